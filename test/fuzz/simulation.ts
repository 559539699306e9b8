/**
 * One run: the whole controller on a simulated cluster, with a simulated clock
 * and every port unreliable, driven by a seed. Everything that happens follows
 * from the seed, so what goes wrong once goes wrong again.
 */

import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import { Term } from '../../runtime/leader/term';
import { createLogger, type LogLevel } from '../../runtime/observability/log';
import { controllerMetrics } from '../../runtime/observability/metrics';
import type { WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import { differences, Lasting } from '../invariants/agreement';
import { causeless, doubleGrants } from '../invariants/log';
import type { Deeds, Observation, Violation } from '../invariants/observation';
import { orderFaults } from '../invariants/order';
import { PORTS, type Port } from '../stack/term-ports';
import { ProcessPorts, Weather } from './faults';
import { ObjectStore } from './object-store';
import { QueueModel, type Snapshot } from './queue-model';
import { Chance } from './random';
import { SimulatedApiserver } from './simulated-apiserver';
import { SimulatedClock } from './simulated-clock';
import { SimulatedCluster } from './simulated-cluster';
import { NAMESPACE, User } from './user';

/** Unix seconds at which every run begins. */
const EPOCH = 1_800_000_000;
/** After trouble ends, retries and late watches may take so long (seconds) before disagreement counts. */
const RECOVERY = 10;
/** Simulated seconds in which everything has to end that can; a clock that jumped back an hour makes some wait for so long. */
const LAST = 3 * 3_600;

export interface SimulationOptions {
  readonly seed: number;
  readonly steps: number;
}

export interface Outcome {
  readonly seed: number;
  readonly steps: number;
  readonly simulatedSeconds: number;
  readonly workloads: number;
  readonly grants: number;
  readonly requeues: number;
  readonly restarts: number;
  readonly violations: readonly Violation[];
}

interface Process {
  readonly term: Term;
  readonly ports: ProcessPorts;
}

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  return new Simulation(options).run();
}

class Simulation {
  private readonly clock = new SimulatedClock();
  private readonly chance: Chance;
  private readonly weather: Weather;
  private readonly apiserver: SimulatedApiserver;
  private readonly cluster: SimulatedCluster;
  private readonly queue: QueueModel;
  private readonly user: User;
  private readonly lasting = new Lasting();
  private readonly violations: Violation[] = [];
  private fluxion: Fluxion = embeddedFluxion();
  private current: Process | undefined;
  private readonly ending: Promise<void>[] = [];
  private restarts = 0;
  private backup: Snapshot | undefined;
  /** As the Lease remembers it. */
  private fence = 0;
  /** Seconds by which the machine's clock is wrong. */
  private drift = 0;
  private troubleUntil = 0;
  private failure: unknown;

  constructor(private readonly options: SimulationOptions) {
    this.chance = new Chance(options.seed);
    const seconds = () => EPOCH + this.clock.now() / 1000;
    this.weather = new Weather(this.clock, this.chance.apart());
    const store = new ObjectStore(seconds);
    this.apiserver = new SimulatedApiserver(store, this.clock, this.chance.apart(), seconds);
    this.cluster = new SimulatedCluster(this.apiserver, this.clock, this.chance.apart(), seconds);
    this.queue = new QueueModel(seconds);
    this.user = new User({
      apiserver: this.apiserver,
      chance: this.chance.apart(),
      now: seconds,
      nodes: !this.calm,
    });
  }

  /** Nothing goes wrong, and nothing but workloads comes and goes: estimates have no excuse then. */
  private get calm(): boolean {
    return this.options.seed % 5 === 0;
  }

  async run(): Promise<Outcome> {
    this.user.setUp();
    this.cluster.start();
    await this.begin();
    for (let step = 0; step < this.options.steps && this.violations.length === 0; step++) {
      this.user.act();
      await this.mishap();
      await this.pass(this.chance.between(0, 1_500));
    }
    if (this.violations.length === 0) await this.finish();
    this.judge();
    await this.end();
    if (this.failure !== undefined) throw this.failure;
    return this.outcome();
  }

  private outcome(): Outcome {
    const { seed, steps } = this.options;
    const count = (event: string) => this.queue.events.filter((logged) => logged.event === event).length;
    return {
      seed,
      steps,
      simulatedSeconds: Math.round(this.clock.now() / 1000),
      workloads: this.queue.all.length,
      grants: count('Allocated'),
      requeues: count('Requeued'),
      restarts: this.restarts,
      violations: this.violations,
    };
  }

  /** Time goes on; whoever disagrees for long is noted. */
  private async pass(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= 500) {
      await this.clock.advance(Math.min(left, 500));
      const seconds = this.clock.now() / 1000;
      if (seconds < this.troubleUntil) this.lasting.reset();
      else this.violations.push(...this.lasting.look(seconds, differences(await this.observe())));
    }
  }

  /** Trouble of some kind, now and then. */
  private async mishap(): Promise<void> {
    const { chance, weather } = this;
    if (this.calm) return;
    const dice = chance.between(1, 300);
    if (dice <= 6) await this.crash();
    else if (dice <= 8) await this.overtake();
    else if (dice <= 14) this.trouble(chance.between(1, 8), chance.oneOf(PORTS)!);
    else if (dice <= 18) this.storm();
    else if (dice <= 24) this.apiserver.breakWatches(chance.happens(0.5) ? 'reset' : 'expired');
    else if (dice <= 26) await this.fluxion.close();
    else if (dice <= 32) this.forget(dice);
    else if (dice <= 34 && this.options.seed % 2 === 0) this.drift += chance.oneOf([3600, -3600, 90, -90])!;
    if (weather.share > 0 || weather.down.size > 0 || dice <= 34) this.upset();
  }

  /** One port is down for some seconds. */
  private trouble(seconds: number, port: Port): void {
    this.weather.down.add(port);
    this.clock.after(seconds * 1000, () => {
      this.weather.down.delete(port);
      this.upset();
    });
  }

  /** Many calls fail, for a while. */
  private storm(): void {
    this.weather.share = this.chance.oneOf([0.01, 0.05, 0.2])!;
    this.clock.after(this.chance.between(2, 15) * 1000, () => {
      this.weather.share = 0;
      this.upset();
    });
  }

  private upset(): void {
    this.troubleUntil = this.clock.now() / 1000 + RECOVERY;
  }

  /** The process is killed and another takes its place; the Fluxion beside it may live on. */
  private async crash(): Promise<void> {
    const { current } = this;
    current?.ports.kill();
    if (current !== undefined) this.ending.push(current.term.stop());
    if (this.chance.happens(0.3)) this.fluxion = embeddedFluxion();
    this.restarts += 1;
    await this.begin();
  }

  /** The leader is frozen past its lease: another leads, and it wakes up and finds out. */
  private async overtake(): Promise<void> {
    this.fluxion = embeddedFluxion();
    this.restarts += 1;
    await this.begin();
  }

  /** A backup is made, or the database restored from one. */
  private forget(dice: number): void {
    if (dice <= 30 && this.options.seed % 7 === 3) this.backup = this.queue.backup();
    else if (dice > 30 && this.backup !== undefined) this.restore(this.backup);
  }

  /** The database is as it was some time ago: it has forgotten what happened since. */
  private restore(backup: Snapshot): void {
    this.queue.restore(backup);
    // What was taken back since, and what ran since, is not to be judged by a log that does not know of it.
    for (const { uid } of this.queue.all) this.user.stopped.add(uid);
    this.backup = undefined;
  }

  private async begin(): Promise<void> {
    const ports = new ProcessPorts(this.weather);
    const level = (process.env.FLUXQUEUE_TEST_LOG ?? 'silent') as LogLevel;
    this.fence = await this.queue.acquireFence('simulation', this.fence);
    const term: Term = new Term({
      config: parseConfig({}),
      ...ports.around({
        queue: this.queue,
        client: this.apiserver.client(),
        fluxion: this.fluxion,
      }),
      fence: this.fence,
      logger: createLogger('simulation', level),
      metrics: controllerMetrics(new Registry()),
      onFenced: () => this.fenced(term, ports),
      time: {
        clock: this.clock,
        wall: () => EPOCH + this.clock.now() / 1000 + this.drift,
        random: this.chance.apart().next,
      },
    });
    this.current = { term, ports };
    this.upset();
    void this.start(term, ports);
  }

  /** As the controller does it: a term that can't start is tried again. */
  private async start(term: Term, ports: ProcessPorts): Promise<void> {
    try {
      await term.start();
    } catch (error) {
      if (this.current?.term !== term) return;
      this.upset();
      ports.kill();
      this.ending.push(term.stop());
      await this.clock.pause(2_000);
      if (this.current?.term === term) await this.begin().catch(this.fail);
      if (!(error instanceof Error)) throw error;
    }
  }

  /** The process ends; where nobody else leads, it is started afresh. */
  private fenced(term: Term, ports: ProcessPorts): void {
    ports.kill();
    this.ending.push(term.stop());
    if (this.current?.term !== term) return;
    this.current = undefined;
    this.restarts += 1;
    this.clock.after(1_000, () => {
      if (this.current === undefined) this.begin().catch(this.fail);
    });
  }

  private readonly fail = (error: unknown): void => {
    this.failure ??= error;
  };

  /** Nothing disturbs any more: what can end ends, and then nothing is held. */
  private async finish(): Promise<void> {
    this.weather.share = 0;
    await this.pass(20_000);
    this.user.relent();
    const until = this.clock.now() + LAST * 1000;
    while (this.open().length > 0 && this.clock.now() < until && this.violations.length === 0) {
      await this.pass(5_000);
      this.user.relent();
    }
    await this.pass(10_000);
    for (const text of this.open()) this.violations.push({ invariant: 'lost', text });
    const { jobs } = await this.fluxion.state();
    for (const { jobid } of jobs.filter(({ jobid }) => jobid < 2 ** 52))
      if (!this.queue.all.some((row) => row.jobid === jobid && row.phase !== 'Finished'))
        this.violations.push({ invariant: 'I3', text: `at the end Fluxion holds job ${jobid}` });
  }

  /** What could end and has not. */
  private open(): readonly string[] {
    return this.queue.all
      .filter((row) => row.phase !== 'Finished' && !isStuck(row) && !this.isStranded(row))
      .map(({ name, phase, reason, message }) => `${name} is ${phase} ${reason ?? ''}: ${message ?? ''}`);
  }

  /** A lone pod that was pinned to a node which went away before it came there: Kubernetes leaves it so, too. */
  private isStranded({ kind, phase, allocation }: WorkloadRow): boolean {
    const node = allocation?.nodes[0]?.name ?? '';
    return kind === 'Pod' && phase === 'Ready' && this.apiserver.store.get('nodes', node) === undefined;
  }

  private judge(): void {
    const { events, all } = this.queue;
    const { disturbances, lostNodes, stopped } = this.user;
    const deeds: Deeds = { disturbances, lostNodes, stopped, comparable: this.calm };
    this.violations.push(
      ...doubleGrants(events),
      ...causeless({ ...this.objects(), rows: all, events, fluxion: { jobs: [], nodes: [] } }, deeds),
      ...orderFaults(events, all, deeds),
    );
  }

  private objects(): Pick<Observation, 'jobs' | 'pods' | 'nodes'> {
    const { store } = this.apiserver;
    return {
      jobs: store.list<Job>('jobs').filter(({ metadata }) => metadata.namespace === NAMESPACE),
      pods: store.list<Pod>('pods').filter(({ metadata }) => metadata.namespace === NAMESPACE),
      nodes: store.list<Node>('nodes'),
    };
  }

  private async observe(): Promise<Observation> {
    const fluxion = await this.fluxion.state().catch(() => ({ jobs: [], nodes: [] }));
    return { ...this.objects(), rows: this.queue.all, events: this.queue.events, fluxion };
  }

  private async end(): Promise<void> {
    this.cluster.stop();
    this.current?.ports.kill();
    const last = this.current?.term.stop();
    await this.clock.until(Promise.all([last, ...this.ending]));
  }
}

/** Waits for something that nobody brings. */
function isStuck({ phase, reason, pods }: WorkloadRow): boolean {
  return phase === 'Waiting' && (pods === 0 || (reason !== null && ENDLESS.has(reason)));
}

const ENDLESS: ReadonlySet<WaitReason> = new Set([
  'Unsatisfiable',
  'DependencyPending',
  'RequeueLimit',
  'Invalid',
]);
