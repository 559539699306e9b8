/** Listens for notifications on a connection of the pool, and on another one after it breaks. */
import type { Pool, PoolClient } from 'pg';
import { type Clock, pause } from '../clock';
import type { Listening } from './leader-view';

export interface ListenerOptions {
  readonly pool: Pool;
  /** An identifier in lower case. */
  readonly channel: string;
  /** Also called after the connection was replaced: what was sent meanwhile is lost. */
  readonly onNotification: () => void;
  /** The connection broke. */
  readonly onBroken: (error: Error) => void;
  readonly clock: Clock;
}

/** Milliseconds until a connection that broke is replaced. */
const RETRY_MS = 1_000;
/** Milliseconds between questions on the connection: nothing else shows that the path to the server forgot it without a word. */
const ASK_MS = 30_000;

export class Listener implements Listening {
  readonly ready: Promise<void>;
  private markReady: () => void = () => undefined;
  private hasListened = false;
  private isConnected = false;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(private readonly options: ListenerOptions) {
    this.ready = new Promise((resolve) => {
      this.markReady = resolve;
    });
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.markReady();
    // A connection that is still being made is given back when it is there.
    if (this.isConnected) await this.running;
  }

  private async run(): Promise<void> {
    const { pool, clock, onBroken } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // Why there is none, the next statement says.
      const client = await pool.connect().catch(() => undefined);
      this.isConnected = client !== undefined;
      if (client !== undefined) await this.listenOn(client).catch(onBroken);
      await pause(clock, RETRY_MS, signal);
    }
  }

  private listening(): void {
    if (this.hasListened) this.options.onNotification();
    this.hasListened = true;
    this.markReady();
  }

  /** Resolves when it was stopped. @throws when the connection breaks */
  private async listenOn(client: PoolClient): Promise<void> {
    const { channel, onNotification, clock } = this.options;
    const { signal } = this.stopping;
    let stopped = () => {};
    let cancel = () => {};
    client.on('notification', onNotification);
    try {
      await new Promise<void>((resolve, reject) => {
        stopped = resolve;
        signal.addEventListener('abort', stopped, { once: true });
        client.on('error', reject);
        client.once('end', () => reject(new Error('the connection was closed')));
        const ask = () => {
          cancel = clock.after(ASK_MS, () => client.query('SELECT 1').then(ask, reject));
        };
        client.query(`LISTEN ${channel}`).then(() => {
          this.listening();
          ask();
        }, reject);
        if (signal.aborted) resolve();
      });
    } finally {
      signal.removeEventListener('abort', stopped);
      cancel();
      client.off('notification', onNotification);
      // It still listens, so nobody else gets it.
      client.release(true);
    }
  }
}
