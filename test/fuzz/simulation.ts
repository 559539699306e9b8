/**
 * One randomized run of the whole controller on a simulated cluster, with a simulated clock and faults on every port. The
 * seed determines the whole run, so failures are reproducible.
 */
import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { Term } from '../../runtime/leader/term';
import { controllerMetrics } from '../../runtime/observability/metrics';
import type { Violation } from '../invariants/observation';
import { PORTS, type Port } from '../stack/term-ports';
import { unfinished } from './endless-waits';
import { FaultConditions, FaultyPorts } from './faults';
import { type Features, featuresOf, namesOf, type Switches } from './features';
import { FinishedJobs } from './finished-jobs';
import { InvariantChecks } from './invariant-checks';
import { ObjectStore } from './object-store';
import { QueueModel, type Snapshot } from './queue-model';
import { Random } from './random';
import { SimulatedApiserver } from './simulated-apiserver';
import { SimulatedClock } from './simulated-clock';
import { SimulatedCluster } from './simulated-cluster';
import { SimulatedUser } from './simulated-user';
import { Warnings } from './warnings';

/** Start of every run, in Unix seconds. */
const EPOCH = 1_800_000_000;
/** Seconds after the end of a fault until differences count: retries and late watches need this time. */
const RECOVERY_SECONDS = 10;
/** Length of a time without faults: longer than any limit that is checked. */
const CALM_SECONDS = 120;
/** Simulated seconds in which all workloads must finish; after a clock jump of an hour some wait for that long. */
const MAX_DRAIN_SECONDS = 3 * 3_600;

export interface SimulationOptions extends Switches {
  readonly seed: number;
  readonly steps: number;
}

export interface Outcome {
  readonly seed: number;
  readonly steps: number;
  /** Names of the features of the run. */
  readonly features: string;
  readonly simulatedSeconds: number;
  readonly workloads: number;
  readonly grants: number;
  readonly requeues: number;
  readonly preemptions: number;
  readonly restarts: number;
  /** Of all that was written to the apiserver: equal for equal runs. */
  readonly digest: string;
  readonly violations: readonly Violation[];
}

interface Process {
  readonly term: Term;
  readonly ports: FaultyPorts;
}

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  return new Simulation(options).run();
}

class Simulation {
  private readonly clock = new SimulatedClock();
  private readonly random: Random;
  private readonly features: Features;
  private readonly conditions: FaultConditions;
  private readonly apiserver: SimulatedApiserver;
  private readonly cluster: SimulatedCluster;
  private readonly finishedJobs: FinishedJobs;
  private readonly queue: QueueModel;
  private readonly user: SimulatedUser;
  private readonly checks: InvariantChecks;
  private readonly warnings = new Warnings();
  private fluxion: Fluxion = embeddedFluxion();
  private current: Process | undefined;
  private readonly stopping: Promise<void>[] = [];
  private restarts = 0;
  private backup: Snapshot | undefined;
  /** The fencing number in the Lease. */
  private fence = 0;
  /** Seconds by which the clock of the controller is wrong. */
  private drift = 0;
  private recoveringUntil = 0;
  private failure: unknown;

  constructor(private readonly options: SimulationOptions) {
    this.random = new Random(options.seed);
    const features = featuresOf(options.seed, options);
    this.features = features;
    const seconds = () => EPOCH + this.clock.now() / 1000;
    this.conditions = new FaultConditions(this.clock, this.random.fork());
    const store = new ObjectStore(seconds);
    this.apiserver = new SimulatedApiserver(store, this.clock, this.random.fork(), seconds);
    this.cluster = new SimulatedCluster(this.apiserver, this.clock, this.random.fork(), seconds, features);
    this.finishedJobs = new FinishedJobs(this.apiserver, this.clock, seconds);
    this.queue = new QueueModel(seconds);
    this.user = new SimulatedUser({
      apiserver: this.apiserver,
      random: this.random.fork(),
      now: seconds,
      features,
    });
    const { queue, apiserver, user } = this;
    this.checks = new InvariantChecks({
      queue,
      apiserver,
      user,
      features,
      now: seconds,
      isRecovering: () => this.isRecovering,
      fluxion: () => this.fluxion,
    });
  }

  private get violations(): Violation[] {
    return this.checks.violations;
  }

  async run(): Promise<Outcome> {
    this.user.setUp();
    this.cluster.start();
    this.finishedJobs.start();
    await this.startProcess();
    for (let step = 0; step < this.options.steps && this.violations.length === 0; step++) {
      this.user.act();
      await this.injectFault();
      await this.advance(this.random.between(0, 1_500));
    }
    if (this.violations.length === 0) await this.finish();
    this.checks.finish();
    await this.stop();
    if (this.failure !== undefined) throw this.failure;
    return this.outcome();
  }

  private outcome(): Outcome {
    const { seed, steps } = this.options;
    const count = (event: string) => this.queue.events.filter((logged) => logged.event === event).length;
    return {
      seed,
      steps,
      features: namesOf(this.features),
      simulatedSeconds: Math.round(this.clock.now() / 1000),
      workloads: this.queue.all.length,
      grants: count('Allocated'),
      requeues: count('Requeued'),
      preemptions: this.queue.all.reduce((sum, row) => sum + row.preemptions, 0),
      restarts: this.restarts,
      digest: this.apiserver.store.digest,
      violations: this.violations,
    };
  }

  /** Advances the time and records differences that last too long. */
  private async advance(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= 500) {
      await this.clock.advance(Math.min(left, 500));
      if (this.conditions.share > 0 || this.conditions.down.size > 0) this.allowRecovery();
      const { isRecovering } = this;
      await this.checks.observe(EPOCH + this.clock.now() / 1000, isRecovering);
      for (const text of this.warnings.take())
        if (!isRecovering) this.violations.push({ invariant: 'pass', text });
    }
  }

  /** Injects a random fault in some steps. */
  private async injectFault(): Promise<void> {
    const { random, conditions } = this;
    if (!this.features.faults || this.isCalm) return;
    const roll = random.between(1, 300);
    if (roll <= 6) await this.crash();
    else if (roll <= 8) await this.replaceLeader();
    else if (roll <= 14) this.takePortDown(random.between(1, 8), random.oneOf(PORTS)!);
    else if (roll <= 18) conditions.failCalls(() => this.allowRecovery());
    else if (roll <= 24) this.apiserver.breakWatches();
    else if (roll <= 26) await this.fluxion.close();
    const isInjected = roll <= 26 || (roll <= 38 && this.injectOptionalFault(roll));
    if (conditions.share > 0 || conditions.down.size > 0 || isInjected) this.allowRecovery();
  }

  /** Faults that follow each other closely hide what must happen within a time. */
  private get isCalm(): boolean {
    return this.features.calms && Math.floor(this.clock.now() / 1000 / CALM_SECONDS) % 2 === 1;
  }

  /** Injects a fault that not every run has. @returns whether it did */
  private injectOptionalFault(roll: number): boolean {
    const { clockJumps, admissionFaults } = this.features;
    if (roll <= 32) return this.backupOrRestore(roll);
    if (roll <= 34) {
      if (clockJumps) this.drift += this.random.oneOf([3600, -3600, 90, -90])!;
      return clockJumps;
    }
    if (admissionFaults) this.breakAdmission();
    return admissionFaults;
  }

  /** Takes one port down for some seconds. Without a connection to the apiserver there are no watches either. */
  private takePortDown(seconds: number, port: Port): void {
    this.conditions.takeDown(port, seconds, () => this.allowRecovery());
    if (port === 'client') this.apiserver.breakWatches();
  }

  /** Puts admission out of force, or makes it refuse everything, for some seconds. */
  private breakAdmission(): void {
    this.apiserver.admission = this.random.oneOf(['off', 'refusing'] as const)!;
    this.clock.after(this.random.between(1, 6) * 1000, () => {
      this.apiserver.admission = 'on';
      this.allowRecovery();
    });
  }

  private get isRecovering(): boolean {
    return this.clock.now() / 1000 < this.recoveringUntil;
  }

  private allowRecovery(): void {
    this.recoveringUntil = this.clock.now() / 1000 + RECOVERY_SECONDS;
  }

  /** Kills the process and starts another one; the Fluxion service may survive. */
  private async crash(): Promise<void> {
    const { current } = this;
    current?.ports.kill();
    if (current !== undefined) this.stopping.push(current.term.stop());
    if (this.random.happens(0.3)) this.fluxion = embeddedFluxion();
    this.restarts += 1;
    await this.startProcess();
  }

  /** Starts another leader while the old one still runs, as after a freeze longer than the lease. */
  private async replaceLeader(): Promise<void> {
    this.fluxion = embeddedFluxion();
    this.restarts += 1;
    await this.startProcess();
  }

  /** Makes a backup of the database, or restores it. @returns whether it was restored */
  private backupOrRestore(roll: number): boolean {
    if (roll <= 30 && this.features.restores) this.backup = this.queue.backup();
    const { backup } = this;
    if (roll <= 30 || backup === undefined) return false;
    this.restore(backup);
    return true;
  }

  /** Restores the database, which loses all later changes. */
  private restore(backup: Snapshot): void {
    this.queue.restore(backup);
    // The restored log lacks later evictions and starts, so it can't explain requeues of these workloads.
    for (const { uid } of this.queue.all) this.user.stopped.add(uid);
    this.checks.restored();
    this.backup = undefined;
  }

  private async startProcess(): Promise<void> {
    const ports = new FaultyPorts(this.conditions);
    this.fence = await this.queue.acquireFence('simulation', this.fence);
    const term: Term = new Term({
      config: parseConfig({}),
      ...ports.wrap({
        queue: this.queue,
        client: this.apiserver.client(),
        fluxion: this.fluxion,
      }),
      fence: this.fence,
      logger: this.warnings.loggerOf(() => ports.isKilled),
      metrics: controllerMetrics(new Registry()),
      looksEveryMs: 5_000,
      onFenced: () => this.fenced(term, ports),
      time: {
        clock: this.clock,
        wall: () => EPOCH + this.clock.now() / 1000 + this.drift,
        random: this.random.fork().next,
      },
    });
    this.current = { term, ports };
    this.checks.restarted();
    this.allowRecovery();
    void this.start(term, ports);
  }

  /** Retries a term that fails to start, as the controller does. */
  private async start(term: Term, ports: FaultyPorts): Promise<void> {
    try {
      await term.start();
    } catch (error) {
      if (this.current?.term !== term) return;
      this.allowRecovery();
      ports.kill();
      this.stopping.push(term.stop());
      await this.clock.pause(2_000);
      if (this.current?.term === term) await this.startProcess().catch(this.fail);
      if (!(error instanceof Error)) throw error;
    }
  }

  /** Ends a fenced process and starts a new one if no other process leads. */
  private fenced(term: Term, ports: FaultyPorts): void {
    ports.kill();
    this.stopping.push(term.stop());
    if (this.current?.term !== term) return;
    this.current = undefined;
    this.restarts += 1;
    this.clock.after(1_000, () => {
      if (this.current === undefined) this.startProcess().catch(this.fail);
    });
  }

  private readonly fail = (error: unknown): void => {
    this.failure ??= error;
  };

  /** Stops all faults and waits until all workloads that can finish have finished and Fluxion holds no jobs. */
  private async finish(): Promise<void> {
    this.conditions.share = 0;
    await this.advance(20_000);
    this.user.releaseEverything();
    const until = this.clock.now() + MAX_DRAIN_SECONDS * 1000;
    // The last one to finish may be the dependency of another one, which starts only then.
    for (let quiet = 0; quiet < 3 && this.clock.now() < until && this.violations.length === 0; ) {
      await this.advance(5_000);
      this.user.releaseEverything();
      quiet = unfinished(this.queue.all, this.apiserver.store).length > 0 ? 0 : quiet + 1;
    }
    // What was violated has stopped the time: nothing had to finish.
    if (this.violations.length > 0) return;
    for (const text of unfinished(this.queue.all, this.apiserver.store))
      this.violations.push({ invariant: 'lost', text });
    this.checks.settled();
    for (const text of this.cluster.cutShort(this.queue.all)) this.violations.push({ invariant: 'I6', text });
    const { jobs } = await this.fluxion.state();
    for (const { jobid } of jobs.filter(({ jobid }) => jobid < 2 ** 52))
      if (!this.queue.all.some((row) => row.jobid === jobid && row.phase !== 'Finished'))
        this.violations.push({ invariant: 'I3', text: `Fluxion holds job ${jobid} at the end` });
  }

  private async stop(): Promise<void> {
    this.cluster.stop();
    this.current?.ports.kill();
    const last = this.current?.term.stop();
    await this.clock.until(Promise.all([last, ...this.stopping]));
  }
}
