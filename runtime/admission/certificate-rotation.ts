/**
 * Keeps a running server on the current certificate. A change of the Secret
 * or of the object with the CA triggers a check at once; a check every
 * minute also finds certificates that are due for renewal.
 */

import { type Clock, systemClock } from '../clock';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { secrets } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { Logger } from '../observability/log';
import { type CertificateStoreOptions, ensureCertificate, type StoredCertificate } from './certificate-store';

export interface CertificateRotationOptions extends CertificateStoreOptions {
  readonly client: KubernetesClient;
  /** Called with each certificate that the role must serve from now on. */
  readonly onCertificate: (certificate: StoredCertificate) => void;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Milliseconds between two checks if no watch reports a change. @default 60000 */
  readonly interval?: number;
  readonly clock?: Clock;
}

export interface CertificateRotation {
  stop(): Promise<void>;
}

/** The watches may be down for the same reason as the check, so a failed check is repeated soon. */
const RETRY_MS = 5_000;
const DEFAULT_INTERVAL_MS = 60_000;

/** @param current the certificate that is served now */
export function rotateCertificates(
  current: StoredCertificate,
  options: CertificateRotationOptions,
): CertificateRotation {
  const checks = new CertificateChecks(current, options);
  const { client, namespace, secretName, trust, logger } = options;
  const watchOf = (name: string) => ({
    client,
    logger,
    onChange: () => checks.trigger(),
    fieldSelector: `metadata.name=${name}`,
  });
  const reflectors = [
    new Reflector({ ...watchOf(secretName), path: secrets(namespace) }),
    new Reflector({ ...watchOf(trust.name), path: trust.collection }),
  ];
  for (const reflector of reflectors) reflector.start();
  checks.trigger();
  return {
    stop: async () => {
      for (const reflector of reflectors) reflector.stop();
      await checks.stop();
    },
  };
}

/** Checks one at a time. A trigger during a check causes one more check after it. */
class CertificateChecks {
  private readonly clock: Clock;
  private serving: StoredCertificate;
  private running: Promise<void> | undefined;
  private triggered = false;
  private stopped = false;
  private cancelTimer: () => void = () => undefined;

  constructor(
    current: StoredCertificate,
    private readonly options: CertificateRotationOptions,
  ) {
    this.clock = options.clock ?? systemClock;
    this.serving = current;
  }

  trigger(): void {
    this.triggered = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer();
    await this.running;
  }

  private async run(): Promise<void> {
    this.cancelTimer();
    let wait = 0;
    while (this.triggered && !this.stopped) {
      this.triggered = false;
      wait = await this.check();
    }
    if (!this.stopped) this.cancelTimer = this.clock.after(wait, () => this.trigger());
  }

  /** Resolves to the milliseconds until the next check. */
  private async check(): Promise<number> {
    const { logger, names, onCertificate, interval = DEFAULT_INTERVAL_MS } = this.options;
    try {
      const found = await ensureCertificate({ ...this.options, serving: () => this.serving });
      // A certificate that the apiserver trusts only since this check is served after the next one.
      if (found.cert !== this.serving.cert && found.trusted && !this.stopped) {
        onCertificate(found);
        this.serving = found;
        logger.info({ names }, 'serving a new certificate');
      }
      return interval;
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'certificate check failed, keeping the current certificate');
      return RETRY_MS;
    }
  }
}
