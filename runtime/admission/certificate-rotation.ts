/**
 * Keeps a running webhook on the right certificate. Changes of the Secret or
 * of the webhook configuration are hints to look at once; underneath it looks
 * every minute, which also finds the day of renewal.
 */

import { type Clock, systemClock } from '../clock';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { secrets } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { Logger } from '../observability/log';
import {
  type CertificateStoreOptions,
  ensureCertificate,
  type StoredCertificate,
  webhookConfigurations,
} from './certificate-store';

export interface CertificateRotationOptions extends CertificateStoreOptions {
  readonly client: KubernetesClient;
  /** A certificate to serve from now on. */
  readonly onCertificate: (certificate: StoredCertificate) => void;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Milliseconds between two looks without a hint. @default 60000 */
  readonly interval?: number;
  readonly clock?: Clock;
}

export interface CertificateRotation {
  stop(): Promise<void>;
}

/** Milliseconds; the watch that gives the hints may be down as well. */
const RETRY = 5_000;

/** @param current what is served now */
export function rotateCertificates(
  current: StoredCertificate,
  options: CertificateRotationOptions,
): CertificateRotation {
  const { client, namespace, secretName, configurationName, logger } = options;
  const clock = options.clock ?? systemClock;
  let serving: StoredCertificate = current;
  let looking: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let cancel: () => void = () => undefined;

  /** Resolves to milliseconds until the next look. */
  const look = async (): Promise<number> => {
    try {
      const found = await ensureCertificate({ ...options, serving: () => serving });
      // One that the apiserver learnt of in this very look is served from the next look on.
      if (found.cert !== serving.cert && found.trusted && !stopped) {
        options.onCertificate(found);
        serving = found;
        logger.info({ names: options.names }, 'serving a new certificate');
      }
      return options.interval ?? 60_000;
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'could not look after the certificate; the present one stays');
      return RETRY;
    }
  };
  const hint = (): void => {
    again = true;
    looking ??= run().finally(() => {
      looking = undefined;
    });
  };
  const run = async (): Promise<void> => {
    cancel();
    let wait = 0;
    while (again && !stopped) {
      again = false;
      wait = await look();
    }
    if (!stopped) cancel = clock.after(wait, hint);
  };

  const named = (name: string) => ({
    client,
    logger,
    onChange: hint,
    fieldSelector: `metadata.name=${name}`,
  });
  const reflectors = [
    new Reflector({ ...named(secretName), path: secrets(namespace) }),
    new Reflector({ ...named(configurationName), path: webhookConfigurations() }),
  ];
  for (const reflector of reflectors) reflector.start();
  hint();
  return {
    stop: async () => {
      stopped = true;
      cancel();
      for (const reflector of reflectors) reflector.stop();
      await looking;
    },
  };
}
