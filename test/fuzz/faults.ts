/**
 * Faults between a term and its ports: latency, lost requests, lost answers, refusals, outages, and the death of the
 * process, after which no call arrives.
 */
import { FluxqError, hasCode } from '../../runtime/errors';
import type { Fluxion } from '../../runtime/fluxion/types';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { unreachable } from '../../runtime/kubernetes/errors';
import type { Queue } from '../../runtime/queue/store';
import { lost, type Port, type PortCall, portThrough } from '../stack/term-ports';
import type { Random } from './random';
import { refusal } from './simulated-apiserver';
import type { SimulatedClock } from './simulated-clock';

interface Ports {
  readonly queue: Queue;
  readonly client: KubernetesClient;
  readonly fluxion: Fluxion;
}

/** The current faults of the environment, which affect every process. */
export class FaultConditions {
  /** Share of calls that fail. */
  share = 0;
  readonly down = new Set<Port>();

  constructor(
    readonly clock: SimulatedClock,
    readonly random: Random,
  ) {}

  takeDown(port: Port, seconds: number, onEnd: () => void): void {
    this.down.add(port);
    this.clock.after(seconds * 1000, () => {
      this.down.delete(port);
      onEnd();
    });
  }

  /** Lets a share of all calls fail for some seconds. */
  failCalls(onEnd: () => void): void {
    this.share = this.random.oneOf([0.01, 0.05, 0.2])!;
    this.clock.after(this.random.between(2, 15) * 1000, () => {
      this.share = 0;
      onEnd();
    });
  }

  /** Milliseconds of latency; latencies of seconds are rare. */
  latency(): number {
    return this.random.happens(0.003) ? this.random.between(100, 2_500) : this.random.next() * 8;
  }
}

/** Members without an answer, or with their own faults. */
const UNFAULTED = new Set<PropertyKey>([
  'close',
  'watch',
  'server',
  'namespace',
  'waitingWrites',
  'onViewAsked',
  'onViewStored',
]);

/** Reads of the queue, which use their own connections. */
const READS = new Set<PropertyKey>(['active', 'byUid', 'finished', 'outcomes', 'shares', 'queues']);

/** Wraps the ports of one process. */
export class FaultyPorts {
  private killed = false;
  private fluxionInDoubt = false;
  /** The queue executes writes one after the other and answers in that order. */
  private lastWrite: Promise<unknown> = Promise.resolve();
  private lostWrites = 0;
  private queue: Pick<Queue, 'disconnects'> | undefined;

  constructor(private readonly conditions: FaultConditions) {}

  /** SIGKILL: requests in transit may still take effect, but no answer arrives. */
  kill(): void {
    this.killed = true;
  }

  get isKilled(): boolean {
    return this.killed;
  }

  wrap(ports: Ports): Ports {
    this.queue = ports.queue;
    return {
      queue: this.port('queue', ports.queue),
      client: this.watching(this.port('client', ports.client)),
      fluxion: this.port('fluxion', ports.fluxion),
    };
  }

  /** No watch is opened without a connection. */
  private watching(client: KubernetesClient): KubernetesClient {
    const watch: KubernetesClient['watch'] = async (path, ...rest) => {
      if (this.conditions.down.has('client')) throw unreachable(`WATCH ${path}`, new Error('refused'));
      return client.watch(path, ...rest);
    };
    return new Proxy(client, {
      get: (target, key, receiver) => (key === 'watch' ? watch : Reflect.get(target, key, receiver)),
    });
  }

  private port<T extends object>(port: Port, target: T): T {
    return portThrough(port, target, (call) => this.send(call), UNFAULTED);
  }

  private send(call: PortCall): Promise<unknown> {
    const isInterrupted = this.watchConnection(call.port);
    const run = () => this.make(call, isInterrupted);
    return call.port === 'queue' && !READS.has(call.method) ? this.sendInOrder(call, run) : run();
  }

  /** When a write gets no answer, those that wait behind it are not sent. */
  private sendInOrder(call: PortCall, run: () => Promise<unknown>): Promise<unknown> {
    const before = this.lostWrites;
    const send = this.lastWrite.then(async () => {
      if (this.lostWrites !== before) throw lost(call);
      return run().catch((error: unknown) => {
        if (hasCode(error, 'FLUXQ_DATABASE_DOWN')) this.lostWrites += 1;
        throw error;
      });
    });
    this.lastWrite = send.catch(() => undefined);
    return send;
  }

  private async make(call: PortCall, isInterrupted: () => boolean): Promise<unknown> {
    const { port, method } = call;
    if (this.killed) throw lost(call);
    if (port === 'fluxion' && method === 'init') this.fluxionInDoubt = false;
    if (port === 'fluxion' && this.fluxionInDoubt) throw lost(call);
    try {
      return await this.transmit(call, isInterrupted);
    } catch (error) {
      // Like the real client: after a call without an answer only init is possible.
      if (port === 'fluxion' && isInDoubt(error)) this.fluxionInDoubt = true;
      throw error;
    }
  }

  private async transmit(call: PortCall, isInterrupted: () => boolean): Promise<unknown> {
    const { port } = call;
    const { clock, random, down, share } = this.conditions;
    const fault = random.happens(share) ? random.between(0, 3) : undefined;
    await clock.pause(this.conditions.latency());
    // The Fluxion service checks fence and boot id of each call, so calls of a dead leader have no effect.
    const fenced = this.killed && port === 'fluxion';
    if (fenced || down.has(port) || fault === 0 || isInterrupted()) throw lost(call);
    if (fault === 1 && port === 'client') throw randomRefusal(random);
    const answer = await call.effect();
    await clock.pause(this.conditions.latency());
    if (this.killed || fault === 2 || fault === 3 || isInterrupted()) throw lost(call);
    return answer;
  }

  /** A restore of the database breaks all connections to it: statements in transit, or that still wait, are lost. */
  private watchConnection(port: Port): () => boolean {
    const before = this.queue?.disconnects;
    return () => port === 'queue' && this.queue?.disconnects !== before;
  }
}

function isInDoubt(error: unknown): boolean {
  return error instanceof FluxqError && error.code === 'FLUXQ_FLUXION_IN_DOUBT';
}

/** A refusal by a busy apiserver, before the request takes effect. */
function randomRefusal(random: Random): Error {
  const [status, reason] = random.oneOf([
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [409, 'Conflict'],
    [403, 'Forbidden'],
  ] as const)!;
  return refusal(status, reason, 'try again');
}
