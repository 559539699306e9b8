/** A certificate that something else manages (cert-manager, a mounted Secret): tls.crt and tls.key in a directory. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FluxqError, messageOf } from '../errors';
import type { TlsPair } from '../https/server';

/** @throws FluxqError FLUXQ_CERTIFICATE_UNREADABLE */
export async function readCertificateFiles(directory: string): Promise<TlsPair> {
  try {
    const [cert, key] = await Promise.all(
      ['tls.crt', 'tls.key'].map((name) => readFile(join(directory, name), 'utf8')),
    );
    return { cert: cert!, key: key! };
  } catch (cause) {
    throw new FluxqError('FLUXQ_CERTIFICATE_UNREADABLE', messageOf(cause), {
      field: 'webhook.certDir',
      value: directory,
      remedy: 'mount a Secret with tls.crt and tls.key at this path',
      retryable: true,
      cause,
    });
  }
}

export interface CertificateFilesOptions {
  readonly directory: string;
  /** Called with each new pair. If it throws, the error goes to onError and the next check passes the pair again. */
  readonly onCertificate: (pair: TlsPair) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two checks. A change of the directory triggers a check at once. @default 10000 */
  readonly interval?: number;
}

/**
 * Watches the certificate files. The kubelet replaces the whole directory by
 * one symbolic link, which the file system watch reports. Other programs
 * replace one file after the other; until both files match, `onCertificate`
 * rejects the pair and the next check tries again.
 * @param current the pair that is served now
 */
export function watchCertificateFiles(current: TlsPair, options: CertificateFilesOptions): { stop(): void } {
  let serving = current;
  let stopped = false;
  const check = async (): Promise<void> => {
    try {
      const pair = await readCertificateFiles(options.directory);
      if (stopped || (pair.cert === serving.cert && pair.key === serving.key)) return;
      options.onCertificate(pair);
      serving = pair;
    } catch (error) {
      options.onError(error);
    }
  };
  const watcher = watch(options.directory, () => void check());
  watcher.on('error', options.onError);
  const timer = setInterval(() => void check(), options.interval ?? 10_000);
  return {
    stop: () => {
      stopped = true;
      watcher.close();
      clearInterval(timer);
    },
  };
}
