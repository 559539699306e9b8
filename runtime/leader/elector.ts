/**
 * Elects one leader among the replicas of the controller, by a Lease.
 *
 * Two replicas never lead at the same time: every write of the Lease carries the resourceVersion that it was decided on;
 * the holder stops `renewDeadline` after it *sent* its last successful renewal; candidates wait `leaseDuration` after
 * they *saw* the Lease change. Each replica measures these times by its own clock, so the clocks of machines need not
 * agree. A candidate leads only after it took a new fence from the database and wrote it to the Lease, so even a holder
 * that was frozen past its deadline can't write to the queue any more.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, pause, type Random, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import type { LeaseSpec } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import { LeaseRecord, microTime } from './lease';

export interface LeaderElectorOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** The holder that the Lease names. It must be unique per process. @default host name, UID of the pod and a random UUID */
  readonly identity?: string;
  /**
   * The UID of the pod in which this process is the only elector. A container is restarted only after its process has
   * ended, so a holder of the same pod is dead and is replaced at once.
   * @default - every holder may be alive, because two processes may run on one host
   */
  readonly podUid?: string;
  /** Takes a new fence, higher than `atLeast` and every other. Called after the Lease was acquired, again if the fence can't be written. */
  readonly fence: (atLeast: number) => Promise<number>;
  /** This replica leads from now on. */
  readonly onAcquired: (fence: number) => void;
  /** This replica leads no longer. Called exactly once per term, but not after `stop`. */
  readonly onLost: (reason: string) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds, in whole seconds. A dead holder is replaced after this time. @default 15000 */
  readonly leaseDuration?: number;
  /** Milliseconds. A holder that can't renew the Lease stops leading after this time. @default 10000 */
  readonly renewDeadline?: number;
  /** Milliseconds between two renewals, and the longest time between two attempts of a candidate. @default 2000 */
  readonly retryPeriod?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** The time in which this replica holds the Lease. */
interface Term {
  /** Reading of the clock before the last successful renewal was sent. */
  renewedAt: number;
  /** Undefined until the fence is on the Lease: the replica does not lead yet. */
  fence: number | undefined;
}

/** Milliseconds between two looks of a candidate at the Lease of another replica, and near its expiry. */
const LOOK_MS = 500;
const SHORTEST_LOOK_MS = 50;

type Timing = Required<Pick<LeaderElectorOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod'>>;

export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #timing: Timing;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #lease: LeaseRecord;
  readonly #stop = new AbortController();
  #term: Term | undefined;
  #running: Promise<void> | undefined;
  #cancelDeadline: () => void = () => undefined;
  /** Ends the pause before the next step. */
  #wake = new AbortController();
  /** The database gave no fence: another replica takes the Lease first. */
  #yields = false;

  /** @throws FluxqError FLUXQ_LEASE_TIMING */
  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.identity = options.identity ?? [hostname(), options.podUid ?? [], randomUUID()].flat().join('_');
    this.#timing = checkedTiming(options);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    const timeout = Math.round(this.#timing.renewDeadline / 2);
    const { client, namespace, name } = options;
    this.#lease = new LeaseRecord({ client, namespace, name, timeout, clock: this.#clock });
  }

  start(): void {
    this.#running ??= this.#run(this.#stop.signal);
  }

  /** The Lease seems to have changed: a candidate looks at it now. */
  look(): void {
    if (this.#term === undefined && !this.#yields) this.#wake.abort();
  }

  /** Whether this replica leads. It reads the clock, so it is right even if the process was frozen and no timer has fired. */
  get leading(): boolean {
    return this.fence !== undefined;
  }

  /** Whether this replica holds the Lease, also before it leads: other replicas can't lead meanwhile. */
  get holding(): boolean {
    return this.#term !== undefined && !this.#isOver(this.#term);
  }

  /** The fence of this replica's term; undefined while it does not lead. */
  get fence(): number | undefined {
    const term = this.#term;
    return term === undefined || this.#isOver(term) ? undefined : term.fence;
  }

  /** The holder of the Lease as last seen; undefined if nobody holds it. */
  get holder(): string | undefined {
    return this.#lease.holder;
  }

  /** Ends the candidacy and releases the Lease, so that the next leader need not wait. The term's work must stop before. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#running;
    const held = this.holding;
    this.#cancelDeadline();
    this.#term = undefined;
    if (held) await this.#release();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController();
      this.#yields = false;
      try {
        await this.#step(signal);
      } catch (error) {
        this.#options.logger.warn(
          { lease: this.#options.name, error: messageOf(error) },
          'leader election failed, retrying',
        );
      }
      await pause(this.#clock, this.#period() * (1 + 0.2 * this.#random()), this.#wake.signal);
    }
  }

  /** A candidate looks often, so that it sees soon that the Lease was released, and when it expires. */
  #period(): number {
    const { retryPeriod } = this.#timing;
    if (this.#term !== undefined) return retryPeriod;
    const left = this.#duration() - this.#lease.age;
    return Math.min(retryPeriod, LOOK_MS, left > 0 ? Math.max(SHORTEST_LOOK_MS, left) : LOOK_MS);
  }

  async #step(signal: AbortSignal): Promise<void> {
    const current = this.#term;
    if (current !== undefined && this.#isOver(current)) this.#loseByTime(current);
    else if (current !== undefined) {
      // Without its fence on the Lease the replica does not lead: an earlier attempt to write it failed.
      if (current.fence === undefined) await this.#lead(current, signal);
      else await this.#renew(current);
      return;
    }
    await this.#lease.read();
    if (!this.#mayTake()) return;
    const term = await this.#take();
    if (term !== undefined) await this.#lead(term, signal);
  }

  #mayTake(): boolean {
    const { spec } = this.#lease;
    if (!spec?.holderIdentity || spec.holderIdentity === this.identity) return true;
    if (this.#isOfThisPod(spec.holderIdentity)) return true;
    return this.#lease.age > this.#duration();
  }

  /** Milliseconds after its last change at which the Lease expires. */
  #duration(): number {
    const { leaseDurationSeconds } = this.#lease.spec ?? {};
    return leaseDurationSeconds === undefined ? this.#timing.leaseDuration : leaseDurationSeconds * 1000;
  }

  /** Whether the holder is an earlier process of this container: see {@link LeaderElectorOptions.podUid}. */
  #isOfThisPod(holder: string): boolean {
    const { podUid } = this.#options;
    return podUid !== undefined && holder.split('_')[1] === podUid;
  }

  /** Resolves to undefined if another candidate was faster. */
  async #take(): Promise<Term | undefined> {
    const renewedAt = this.#clock.now();
    const now = microTime();
    const old = this.#lease.spec;
    const transitions = old?.leaseTransitions ?? 0;
    const written = await this.#lease.write(
      {
        ...this.#spec(now),
        acquireTime: now,
        leaseTransitions:
          old === undefined || old.holderIdentity === this.identity ? transitions : transitions + 1,
      },
      undefined,
    );
    if (!written) return undefined;
    this.#term = { renewedAt, fence: undefined };
    this.#watchDeadline(this.#term);
    return this.#term;
  }

  /** The Lease is renewed while the fence is taken from the database. */
  async #lead(term: Term, signal: AbortSignal): Promise<void> {
    const { logger, name, onAcquired } = this.#options;
    const renewals = new AbortController();
    const renewing = this.#keep(term, renewals.signal);
    const fence = await this.#takeFence(signal);
    renewals.abort();
    await renewing;
    if (this.#term !== term) return;
    if (fence === undefined) {
      // Another replica may reach the database.
      this.#yields = true;
      this.#cancelDeadline();
      this.#term = undefined;
      await this.#release();
      return;
    }
    if (!(await this.#renew(term, fence)) || this.#isOver(term) || signal.aborted) return;
    term.fence = fence;
    logger.info({ lease: name, identity: this.identity, fence }, 'leading');
    onAcquired(fence);
  }

  /** Resolves to undefined if the database gives no fence, or if `stop` is called before it does. */
  async #takeFence(signal: AbortSignal): Promise<number | undefined> {
    const { fence, logger, name } = this.#options;
    const { promise: stopped, resolve } = deferred<undefined>();
    const stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return signal.aborted ? undefined : await Promise.race([fence(this.#lease.lastFence), stopped]);
    } catch (error) {
      logger.warn(
        { lease: name, error: messageOf(error) },
        'no fence from the database, releasing the lease',
      );
      return undefined;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #keep(term: Term, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(this.#clock, this.#timing.retryPeriod, signal);
      if (signal.aborted || this.#term !== term) return;
      try {
        await this.#renew(term);
      } catch (error) {
        this.#options.logger.warn(
          { lease: this.#options.name, error: messageOf(error) },
          'renewing the lease failed, retrying',
        );
      }
    }
  }

  /** @returns whether this replica still holds the Lease */
  async #renew(term: Term, fence = term.fence): Promise<boolean> {
    const renewedAt = this.#clock.now();
    const spec = { ...this.#lease.spec, ...this.#spec(microTime()) };
    let written = await this.#lease.write(spec, fence);
    if (!written) {
      // The Lease was changed: by a new holder, by a user, or by an own write whose answer was lost.
      await this.#lease.read();
      if (this.#lease.holder === this.identity) written = await this.#lease.write(spec, fence);
      else this.#lose(term, `the lease was taken by ${this.holder ?? 'nobody'}`);
    }
    if (!written || this.#term !== term) return false;
    term.renewedAt = renewedAt;
    this.#watchDeadline(term);
    return true;
  }

  #spec(renewTime: string): LeaseSpec {
    return {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(this.#timing.leaseDuration / 1000),
      renewTime,
    };
  }

  async #release(): Promise<void> {
    try {
      await this.#lease.write(
        { ...this.#lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() },
        undefined,
      );
    } catch (error) {
      this.#options.logger.warn(
        { error: messageOf(error) },
        'releasing the lease failed, it expires by itself',
      );
    }
  }

  #isOver(term: Term): boolean {
    return this.#clock.now() - term.renewedAt >= this.#timing.renewDeadline;
  }

  #watchDeadline(term: Term): void {
    this.#cancelDeadline();
    const left = term.renewedAt + this.#timing.renewDeadline - this.#clock.now();
    this.#cancelDeadline = this.#clock.after(Math.max(0, left), () => this.#loseByTime(term));
  }

  #loseByTime(term: Term): void {
    this.#lose(term, `not renewed for ${this.#timing.renewDeadline / 1000} s`);
  }

  #lose(term: Term, reason: string): void {
    if (this.#term !== term) return;
    this.#cancelDeadline();
    this.#term = undefined;
    if (term.fence === undefined) return;
    this.#options.logger.warn({ lease: this.#options.name, reason }, 'no longer leading');
    this.#options.onLost(reason);
  }
}

function checkedTiming(options: LeaderElectorOptions): Timing {
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
  if (leaseDuration > renewDeadline && renewDeadline > retryPeriod * 1.2 && retryPeriod > 0) {
    return { leaseDuration, renewDeadline, retryPeriod };
  }
  throw new FluxqError('FLUXQ_LEASE_TIMING', 'the times of the leader election conflict with each other', {
    field: options.name,
    value: { leaseDuration, renewDeadline, retryPeriod },
    remedy: 'make leaseDuration longer than renewDeadline, and that longer than 1.2 times retryPeriod',
  });
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
