/** A certificate that others keep (cert-manager, a mounted Secret): tls.crt and tls.key of a folder. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FluxqError, messageOf } from '../errors';
import type { TlsPair } from './server';

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
      remedy: 'mount a Secret with tls.crt and tls.key there',
      retryable: true,
      cause,
    });
  }
}

export interface CertificateFilesOptions {
  readonly directory: string;
  /** Called with a pair that differs from the last one. What it throws is told to onError, and the pair is tried again. */
  readonly onCertificate: (pair: TlsPair) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two looks without a hint. @default 10000 */
  readonly interval?: number;
}

/**
 * The kubelet swaps a whole folder by one symbolic link, which the watch of
 * the file system sees; other writers replace one file after the other, and a
 * certificate without its key is refused until the key is there too.
 * @param current what is served now
 */
export function watchCertificateFiles(current: TlsPair, options: CertificateFilesOptions): { stop(): void } {
  let serving = current;
  let stopped = false;
  const look = async (): Promise<void> => {
    try {
      const pair = await readCertificateFiles(options.directory);
      if (stopped || (pair.cert === serving.cert && pair.key === serving.key)) return;
      options.onCertificate(pair);
      serving = pair;
    } catch (error) {
      options.onError(error);
    }
  };
  const watcher = watch(options.directory, () => void look());
  watcher.on('error', options.onError);
  const timer = setInterval(() => void look(), options.interval ?? 10_000);
  return {
    stop: () => {
      stopped = true;
      watcher.close();
      clearInterval(timer);
    },
  };
}
