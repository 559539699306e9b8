/** What the controller says of its own faults: without a fault of another, it has none. */
import { Writable } from 'node:stream';
import pino from 'pino';
import type { Logger } from '../../runtime/observability/log';

/** A pass that fails is repeated until what it failed at has ended, so nothing else shows it. */
const OWN_FAULTS = /^(pass failed|workloads wait although|it could not be told whether work waits)/;

/** A Fluxion that was taken away is noticed when it is asked next. */
const OF_FLUXION = /^FLUXQ_FLUXION_(NOT_READY|IN_DOUBT)/;

interface Line {
  readonly message: string;
  readonly error?: string;
  readonly workloads?: readonly string[];
}

export class Warnings {
  private texts: string[] = [];

  /** @param isKilled whether the process is gone: a call that it had begun may still fail in the simulation, long after any recovery */
  loggerOf(isKilled: () => boolean): Logger {
    return pino(
      { level: process.env.FLUXQUEUE_TEST_LOG ?? 'warn', messageKey: 'message' },
      new Writable({
        write: (chunk, _, done) => {
          if (process.env.FLUXQUEUE_TEST_LOG !== undefined) process.stderr.write(String(chunk));
          if (!isKilled()) this.read(JSON.parse(String(chunk)) as Line);
          done();
        },
      }),
    );
  }

  private read({ message, error = '', workloads = [] }: Line): void {
    if (OWN_FAULTS.test(message) && !OF_FLUXION.test(error))
      this.texts.push([message, error, ...workloads].join(' '));
  }

  /** Those since the last call. */
  take(): readonly string[] {
    const { texts } = this;
    this.texts = [];
    return texts;
  }
}
