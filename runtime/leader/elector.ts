/**
 * One leader among the controller's replicas, by a Lease.
 *
 * What keeps two from leading at once: every write of the Lease carries the
 * resourceVersion it was decided on; the holder stops `renewDeadline` after it
 * *sent* its last successful renewal, candidates wait `leaseDuration` after they
 * *saw* the Lease change, both by their own clock, so the clocks of machines need
 * not agree. A candidate leads only after it took a new fence from the database
 * and wrote it into the Lease, so even a holder that was frozen past its deadline
 * can't write to the queue any more.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, pause, type Random, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { leases } from '../kubernetes/paths';
import type { Lease, LeaseSpec } from '../kubernetes/types';
import type { Logger } from '../observability/log';

/** On the Lease: the fence of its holder, once it leads. */
export const FENCE_ANNOTATION = 'fluxqueue/fence';
/**
 * On the Lease: the highest fence that ever stood there. A database that was restored from a backup has forgotten the
 * latest; a leader with one of them again would not outdate whoever still has it.
 */
export const LAST_FENCE_ANNOTATION = 'fluxqueue/last-fence';

export interface LeaderElectorOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Must be unique per process. @default host name, UID of the pod and a random UUID */
  readonly identity?: string;
  /**
   * UID of the pod that this process is the only elector of. A container is started again only when its process has ended,
   * so a holder of the same pod is dead and is replaced at once.
   * @default - none: two processes of one host may both be alive, and every holder is waited for
   */
  readonly podUid?: string;
  /** Takes a new fence, higher than this one and every other; called once per term, after the Lease is ours. */
  readonly fence: (atLeast: number) => Promise<number>;
  /** We lead from now on. */
  readonly onAcquired: (fence: number) => void;
  /** We don't lead any more: called exactly once per term, never for a release by stop(). */
  readonly onLost: (reason: string) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds; whole seconds. A dead holder is replaced after this. @default 15000 */
  readonly leaseDuration?: number;
  /** Milliseconds; a holder that can't renew gives up after this. @default 10000 */
  readonly renewDeadline?: number;
  /** Milliseconds between renewals, and between a candidate's looks. @default 2000 */
  readonly retryPeriod?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** The Lease is ours since this reading of the clock, taken before the request was sent. */
interface Term {
  renewedAt: number;
  /** Undefined until the fence is on the Lease: not leading yet. */
  fence: number | undefined;
}

type Timing = Required<Pick<LeaderElectorOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod'>>;

export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #timing: Timing;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #path: string;
  readonly #stop = new AbortController();
  /** As last read or written by us. */
  #lease: Lease | undefined;
  /** When we first saw this version of it. */
  #seenAt = 0;
  #term: Term | undefined;
  #running: Promise<void> | undefined;
  #cancelDeadline: () => void = () => undefined;

  /** @throws FluxqError FLUXQ_LEASE_TIMING */
  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.identity = options.identity ?? [hostname(), options.podUid ?? [], randomUUID()].flat().join('_');
    this.#timing = checkedTiming(options);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#path = leases(options.namespace, options.name);
  }

  start(): void {
    this.#running ??= this.#run(this.#stop.signal);
  }

  /**
   * Whether we lead now. Looks at the clock, so it is right even when this
   * process was frozen and no timer has fired yet.
   */
  get leading(): boolean {
    return this.fence !== undefined;
  }

  /** The fence of the term we lead, if we do. */
  get fence(): number | undefined {
    const term = this.#term;
    return term === undefined || this.#isOver(term) ? undefined : term.fence;
  }

  /** Who holds the Lease, as last seen; undefined: nobody. */
  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity || undefined;
  }

  /** Ends the candidacy and gives the Lease back, so that the next leader need not wait. Stop the work that leads first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const held = this.#term !== undefined && !this.#isOver(this.#term);
    this.#cancelDeadline();
    this.#term = undefined;
    if (held) await this.#release();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#step(signal);
      } catch (error) {
        // Whoever waits for the apiserver here is told once per failed attempt, not by an exception.
        this.#options.logger.warn(
          { lease: this.#options.name, error: messageOf(error) },
          'leader election: no answer',
        );
      }
      await pause(this.#clock, this.#timing.retryPeriod * (1 + 0.2 * this.#random()), signal);
    }
  }

  async #step(signal: AbortSignal): Promise<void> {
    const current = this.#term;
    if (current !== undefined && this.#isOver(current)) this.#loseByTime(current);
    else if (current !== undefined) {
      await this.#renew(current);
      return;
    }
    this.#see(await this.#read());
    if (!this.#mayTake()) return;
    const term = await this.#take();
    if (term !== undefined) await this.#lead(term, signal);
  }

  async #read(): Promise<Lease | undefined> {
    try {
      return await this.#options.client.get<Lease>(this.#path, this.#request());
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** Only a change counts as a sign of life, and only our own clock measures how old it is. */
  #see(lease: Lease | undefined): void {
    if (lease?.metadata.resourceVersion === this.#lease?.metadata.resourceVersion && lease !== undefined)
      return;
    this.#lease = lease;
    this.#seenAt = this.#clock.now();
  }

  #mayTake(): boolean {
    const spec = this.#lease?.spec;
    if (!spec?.holderIdentity || spec.holderIdentity === this.identity) return true;
    if (this.#isOfThisPod(spec.holderIdentity)) return true;
    const duration = (spec.leaseDurationSeconds ?? this.#timing.leaseDuration / 1000) * 1000;
    return this.#clock.now() - this.#seenAt > duration;
  }

  /** An earlier process of this container: see {@link LeaderElectorOptions.podUid}. */
  #isOfThisPod(holder: string): boolean {
    const { podUid } = this.#options;
    return podUid !== undefined && holder.split('_')[1] === podUid;
  }

  /** Undefined: another candidate was quicker. */
  async #take(): Promise<Term | undefined> {
    const renewedAt = this.#clock.now();
    const now = microTime();
    const old = this.#lease?.spec;
    const transitions = old?.leaseTransitions ?? 0;
    const written = await this.#write(
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

  /** Renewals go on while the database thinks about the fence. */
  async #lead(term: Term, signal: AbortSignal): Promise<void> {
    const { logger, name, onAcquired } = this.#options;
    const renewals = new AbortController();
    const renewing = this.#keep(term, renewals.signal);
    const fence = await this.#takeFence(signal);
    renewals.abort();
    await renewing;
    if (this.#term !== term) return;
    if (fence === undefined) {
      // Perhaps another replica reaches the database.
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

  /** Undefined: the database gave none, or we are asked to stop before it did. */
  async #takeFence(signal: AbortSignal): Promise<number | undefined> {
    const { fence, logger, name } = this.#options;
    const { promise: stopped, resolve } = deferred<undefined>();
    const stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    try {
      return signal.aborted ? undefined : await Promise.race([fence(lastFence(this.#lease)), stopped]);
    } catch (error) {
      logger.warn(
        { lease: name, error: messageOf(error) },
        'no fence from the database, giving the lease back',
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
          'lease not renewed',
        );
      }
    }
  }

  /** @returns whether the Lease is ours still */
  async #renew(term: Term, fence = term.fence): Promise<boolean> {
    const renewedAt = this.#clock.now();
    const spec = { ...this.#lease?.spec, ...this.#spec(microTime()) };
    let written = await this.#write(spec, fence);
    if (!written) {
      // Somebody changed it: a new holder, a user's annotation, or our own write whose answer was lost.
      this.#see(await this.#read());
      if (this.#lease?.spec?.holderIdentity === this.identity) written = await this.#write(spec, fence);
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

  /** Guarded by the resourceVersion we know; the Lease shows this fence or none. @returns false on a conflict */
  async #write(spec: LeaseSpec, fence: number | undefined): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    const known = this.#lease;
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...(known?.metadata ?? { name, namespace }), annotations: annotationsWith(known, fence) },
      spec,
    };
    try {
      const lease =
        known === undefined
          ? await client.create<Lease>(leases(namespace), body, this.#request())
          : await client.update<Lease>(this.#path, body, this.#request());
      this.#see(lease);
      return true;
    } catch (error) {
      if (isStatus(error, 409) || isStatus(error, 404)) return false;
      throw error;
    }
  }

  async #release(): Promise<void> {
    try {
      await this.#write(
        { ...this.#lease?.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() },
        undefined,
      );
    } catch (error) {
      this.#options.logger.warn(
        { error: messageOf(error) },
        'the lease was not given back, it runs out by itself',
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

  /** One quick attempt: the next period is the retry. */
  #request() {
    return { priority: 'urgent', retries: 0, timeout: Math.round(this.#timing.renewDeadline / 2) } as const;
  }
}

function checkedTiming(options: LeaderElectorOptions): Timing {
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
  if (leaseDuration > renewDeadline && renewDeadline > retryPeriod * 1.2 && retryPeriod > 0) {
    return { leaseDuration, renewDeadline, retryPeriod };
  }
  throw new FluxqError('FLUXQ_LEASE_TIMING', 'the times of the leader election contradict each other', {
    field: options.name,
    value: { leaseDuration, renewDeadline, retryPeriod },
    remedy: 'make leaseDuration longer than renewDeadline, and that longer than 1.2 times retryPeriod',
  });
}

/** Other annotations stay; the fence of an earlier holder never stands beside a new one's name as its own. */
function annotationsWith(lease: Lease | undefined, fence: number | undefined): Record<string, string> {
  const { [FENCE_ANNOTATION]: _, ...others } = lease?.metadata.annotations ?? {};
  const last = Math.max(lastFence(lease), fence ?? 0);
  return {
    ...others,
    ...(last === 0 ? {} : { [LAST_FENCE_ANNOTATION]: `${last}` }),
    ...(fence === undefined ? {} : { [FENCE_ANNOTATION]: `${fence}` }),
  };
}

/** What is no number there, by whatever hand, is none; nor one that no number could follow. */
function lastFence(lease: Lease | undefined): number {
  const { [FENCE_ANNOTATION]: fence, [LAST_FENCE_ANNOTATION]: last } = lease?.metadata.annotations ?? {};
  const known = [fence, last]
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number > 0 && number < 2 ** 52);
  return Math.max(0, ...known);
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Lease times want six decimals. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
