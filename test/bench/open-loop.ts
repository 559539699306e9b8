/**
 * An open-loop load over TLS: requests are sent at fixed times, independent of earlier responses, and each latency counts
 * from the scheduled time. So the latencies include all requests that a stalled server delays.
 */
import { Agent, request } from 'node:https';

export interface Load {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly perSecond: number;
  readonly requests: number;
  /** Number of persistent connections; the apiserver keeps up to 25 idle connections to a host. */
  readonly connections: number;
  readonly body: (index: number) => Buffer;
  /** Checks each response; an error stops the load. */
  readonly check: (index: number, status: number, text: string) => void;
}

export interface Measured {
  /** Milliseconds from the scheduled time of each request to its response. */
  readonly latencies: readonly number[];
  /** Milliseconds by which this process sent each request late, which the server did not cause. */
  readonly lags: readonly number[];
}

export async function runLoad(load: Load): Promise<Measured> {
  const agent = new Agent({ ca: load.ca, keepAlive: true, maxSockets: load.connections, scheduling: 'fifo' });
  const latencies: number[] = [];
  const lags: number[] = [];
  const pending: Promise<void>[] = [];
  const start = performance.now() + 5;
  try {
    for (let index = 0; index < load.requests; index++) {
      const due = start + (index * 1000) / load.perSecond;
      await until(due);
      lags[index] = performance.now() - due;
      pending.push(
        send(load, agent, index).then(() => {
          latencies[index] = performance.now() - due;
        }),
      );
    }
    await Promise.all(pending);
  } finally {
    agent.destroy();
  }
  return { latencies, lags };
}

/**
 * Timers have a resolution of one millisecond. Busy waiting would be exact, but would take processor time from the server
 * on a small machine.
 */
async function until(due: number): Promise<void> {
  const wait = Math.ceil(due - performance.now());
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}

function send({ host, port, path, body, check }: Load, agent: Agent, index: number): Promise<void> {
  const payload = body(index);
  const headers = { 'content-type': 'application/json', 'content-length': payload.length };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host, port, path, method: 'POST', agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        try {
          check(index, incoming.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'));
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}
