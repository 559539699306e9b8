/** What the roles with a certificate of their own need of it. */
import { X509Certificate } from 'node:crypto';
import {
  type CertificateStoreOptions,
  ensureCertificate,
  type StoredCertificate,
} from '../admission/certificate-store';
import { backoff, pause, systemClock } from '../clock';
import { FluxqError } from '../errors';
import type { TlsPair } from '../https/server';
import type { Logger } from '../observability/log';

/**
 * Waits for an apiserver that is down.
 * @param signal ends the wait
 * @throws errors that are not retryable
 */
export async function firstCertificate(
  store: CertificateStoreOptions,
  logger: Logger,
  signal?: AbortSignal,
): Promise<StoredCertificate> {
  for (let failures = 1; ; failures++) {
    try {
      return await ensureCertificate(store);
    } catch (error) {
      if (!(error instanceof FluxqError) || !error.retryable) throw error;
      logger.warn({ error: error.message }, 'no certificate yet, retrying');
      await pause(systemClock, backoff({ first: 500, most: 10_000 }, failures, Math.random), signal);
      signal?.throwIfAborted();
    }
  }
}

/** Unix seconds. */
export function certificateExpiry({ cert }: TlsPair): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1000;
}
