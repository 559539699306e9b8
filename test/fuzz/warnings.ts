/** What the controller says of its own faults: without a fault of another, it has none. */
import { Writable } from 'node:stream';
import pino from 'pino';
import type { Logger } from '../../runtime/observability/log';

/** A pass that fails is repeated until what it failed at has ended, so nothing else shows it. */
const OWN_FAULTS = /^(pass failed|workloads wait although|it could not be told whether work waits)/;

interface Line {
  readonly message: string;
  readonly error?: string;
  readonly workloads?: readonly string[];
}

export class Warnings {
  private texts: string[] = [];
  readonly logger: Logger = pino(
    { level: 'warn', messageKey: 'message' },
    new Writable({
      write: (chunk, _, done) => {
        const { message, error = '', workloads = [] } = JSON.parse(String(chunk)) as Line;
        if (OWN_FAULTS.test(message)) this.texts.push([message, error, ...workloads].join(' '));
        done();
      },
    }),
  );

  /** Those since the last call. */
  take(): readonly string[] {
    const { texts } = this;
    this.texts = [];
    return texts;
  }
}
