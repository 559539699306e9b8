/**
 * What stands between a term and the world: latency, lost requests, lost
 * answers, refusals, outages; and the end of the process, after which nothing
 * gets through.
 */
import { FluxqError } from '../../runtime/errors';
import type { Fluxion } from '../../runtime/fluxion/types';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Queue } from '../../runtime/queue/store';
import { lost, type Port, type PortCall, portThrough } from '../stack/term-ports';
import type { Chance } from './random';
import { refusal } from './simulated-apiserver';
import type { SimulatedClock } from './simulated-clock';

interface Ports {
  readonly queue: Queue;
  readonly client: KubernetesClient;
  readonly fluxion: Fluxion;
}

/** Faults of the world: they hit whatever term is there. */
export class Weather {
  /** Share of calls that go wrong. */
  share = 0;
  readonly down = new Set<Port>();

  constructor(
    readonly clock: SimulatedClock,
    readonly chance: Chance,
  ) {}

  /** Seconds-long waits are rare, and happen. */
  latency(): number {
    return this.chance.happens(0.003) ? this.chance.between(100, 2_500) : this.chance.next() * 8;
  }
}

/** Not calls with an answer, or with faults of their own. */
const UNTOUCHED = new Set<PropertyKey>(['close', 'watch', 'server', 'namespace', 'waitingWrites']);

/** Of the queue: on connections of their own. */
const READS = new Set<PropertyKey>(['active', 'byUid', 'finished', 'outcomes', 'shares', 'queues']);

/** The ports of one process. */
export class ProcessPorts {
  private dead = false;
  private fluxionInDoubt = false;
  /** The queue writes one statement after the other, and answers in that order. */
  private written: Promise<unknown> = Promise.resolve();

  constructor(private readonly weather: Weather) {}

  /** SIGKILL: what it has sent may still arrive, nothing is heard of it. */
  kill(): void {
    this.dead = true;
  }

  around(ports: Ports): Ports {
    return {
      queue: this.port('queue', ports.queue),
      client: this.port('client', ports.client),
      fluxion: this.port('fluxion', ports.fluxion),
    };
  }

  private port<T extends object>(port: Port, target: T): T {
    return portThrough(port, target, (call) => this.turn(call), UNTOUCHED);
  }

  private turn(call: PortCall): Promise<unknown> {
    const run = () => this.make(call);
    return call.port === 'queue' && !READS.has(call.method) ? this.inTurn(run) : run();
  }

  private inTurn(run: () => Promise<unknown>): Promise<unknown> {
    const turn = this.written.then(run);
    this.written = turn.catch(() => undefined);
    return turn;
  }

  private async make(call: PortCall): Promise<unknown> {
    const { port, method } = call;
    if (this.dead) throw lost(call);
    if (port === 'fluxion' && method === 'init') this.fluxionInDoubt = false;
    if (port === 'fluxion' && this.fluxionInDoubt) throw lost(call);
    try {
      return await this.travel(call);
    } catch (error) {
      // As the real client: after a call without an answer only init makes it certain again.
      if (port === 'fluxion' && isDoubt(error)) this.fluxionInDoubt = true;
      throw error;
    }
  }

  private async travel(call: PortCall): Promise<unknown> {
    const { port } = call;
    const { clock, chance, down, share } = this.weather;
    const fault = chance.happens(share) ? chance.between(0, 3) : undefined;
    await clock.pause(this.weather.latency());
    // The Fluxion service asks for the fence and the boot id before each call: one of a dead leader changes nothing.
    const fenced = this.dead && port === 'fluxion';
    if (fenced || down.has(port) || fault === 0) throw lost(call);
    if (fault === 1 && port === 'client') throw refused(chance);
    const answer = await call.effect();
    await clock.pause(this.weather.latency());
    if (this.dead || fault === 2 || fault === 3) throw lost(call);
    return answer;
  }
}

function isDoubt(error: unknown): boolean {
  return error instanceof FluxqError && error.code === 'FLUXQ_FLUXION_IN_DOUBT';
}

/** What a busy apiserver says before anything has happened. */
function refused(chance: Chance): Error {
  const [status, reason] = chance.oneOf([
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [409, 'Conflict'],
  ] as const)!;
  return refusal(status, reason, 'try again');
}
