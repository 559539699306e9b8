/**
 * Every request of the election fails in every way, on replicas whose Lease and clock are in this process. Afterwards
 * one replica leads, never two at once, and every fence is higher than the one before it.
 */
import { pause } from '../../runtime/clock';
import { FluxqError } from '../../runtime/errors';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { Lease } from '../../runtime/kubernetes/types';
import { LeaderElector } from '../../runtime/leader/elector';
import { FENCE_ANNOTATION } from '../../runtime/leader/lease';
import { ManualClock } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

/** The requests of an election, in the order in which a replica sends them. */
const REQUESTS = ['read', 'create', 'take', 'database', 'fence', 'renew', 'release'] as const;
type Request = (typeof REQUESTS)[number];

/**
 * `lost`: the request has its effect, but its answer never arrives. `late`: the request takes effect only after the deadline of
 * the term, and its answer arrives then, unless its sender has given up.
 */
const FAULTS = ['once', 'twice', 'for 60 s', 'lost', 'late'] as const;
type Fault = (typeof FAULTS)[number];

const LEASE_MS = 15_000;
const RETRY_MS = 2_000;
const DEADLINE_MS = 10_000;
/** Half of the deadline: after it the sender of a request to the apiserver gives up. */
const REQUEST_MS = 5_000;
const MINUTE = 60_000;

class FaultyElection {
  readonly clock = new ManualClock();
  readonly replicas: LeaderElector[] = [];
  readonly fences: number[] = [];
  private lease: Lease | undefined;
  private version = 0;
  private fence = 0;
  private left = 0;
  private until = Number.POSITIVE_INFINITY;
  private request: Request | undefined;
  private fault: Fault = 'once';
  hits = 0;

  /** From now on requests of this kind fail in this way. */
  inject(request: Request, fault: Fault): void {
    this.request = request;
    this.fault = fault;
    this.left = fault === 'twice' ? 2 : fault === 'for 60 s' ? Number.POSITIVE_INFINITY : 1;
    this.until = this.clock.now() + MINUTE;
  }

  start(identity: string): LeaderElector {
    const replica = new LeaderElector({
      client: this.client(),
      namespace: 'default',
      name: 'leader',
      identity,
      fence: (atLeast) =>
        this.send('database', () => {
          this.fence = Math.max(this.fence, atLeast) + 1;
          return this.fence;
        }),
      onAcquired: (fence) => this.fences.push(fence),
      onLost: () => undefined,
      logger: recordingLogger(),
      leaseDuration: LEASE_MS,
      renewDeadline: DEADLINE_MS,
      retryPeriod: RETRY_MS,
      clock: this.clock,
      random: () => 0,
    });
    this.replicas.push(replica);
    replica.start();
    return replica;
  }

  /** Advances the time, and fails if two replicas lead at once. */
  async pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      await this.clock.advance(500);
      expect(this.leaders.length).toBeLessThanOrEqual(1);
    }
  }

  get leaders(): LeaderElector[] {
    return this.replicas.filter(({ leading }) => leading);
  }

  private client(): KubernetesClient {
    const client: Pick<KubernetesClient, 'get' | 'create' | 'update'> = {
      get: <T>() => this.send('read', () => this.stored() as T),
      create: <T>(_: string, body: unknown) => this.send('create', () => this.store(body as Lease) as T),
      update: <T>(_: string, body: unknown) => {
        const lease = body as Lease;
        return this.send(this.kindOf(lease), () => this.store(lease) as T);
      },
    };
    return client as KubernetesClient;
  }

  private kindOf({ metadata, spec }: Lease): Request {
    if (spec?.holderIdentity === '') return 'release';
    if (spec?.holderIdentity !== this.lease?.spec?.holderIdentity) return 'take';
    const fence = metadata.annotations?.[FENCE_ANNOTATION];
    return fence !== undefined && fence !== this.lease?.metadata.annotations?.[FENCE_ANNOTATION]
      ? 'fence'
      : 'renew';
  }

  private stored(): Lease {
    if (this.lease === undefined) throw new ApiError(answer(404, 'NotFound'));
    return this.lease;
  }

  private store(lease: Lease): Lease {
    const known = this.lease?.metadata.resourceVersion;
    if (lease.metadata.resourceVersion !== known) throw new ApiError(answer(409, 'Conflict'));
    this.version += 1;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: `${this.version}` } };
    return this.lease;
  }

  /** Only a statement to the database has no timeout that is shorter than the deadline. */
  private async answerLate<T>(request: Request, effect: () => T): Promise<T> {
    const after = DEADLINE_MS + 1_000;
    if (request === 'database') {
      await pause(this.clock, after);
      return effect();
    }
    this.clock.after(after, () => {
      try {
        effect();
      } catch (error) {
        // The Lease has changed meanwhile, so the apiserver refuses the write.
        expect(error).toBeInstanceOf(ApiError);
      }
    });
    await pause(this.clock, REQUEST_MS);
    throw late();
  }

  private async send<T>(request: Request, effect: () => T): Promise<T> {
    if (request !== this.request || this.left === 0 || this.clock.now() >= this.until) return effect();
    this.left -= 1;
    this.hits += 1;
    if (this.fault === 'late') return this.answerLate(request, effect);
    if (this.fault === 'lost') effect();
    throw late();
  }
}

function late(): FluxqError {
  return new FluxqError('FLUXQ_KUBERNETES_TIMEOUT', 'no answer', { retryable: true });
}

function answer(status: number, reason: string) {
  return { status, reason, message: reason, retryAfterSeconds: undefined };
}

const CASES = REQUESTS.flatMap((request) => FAULTS.map((fault) => [request, fault] as const));

test.each(CASES)('a replica leads after the request "%s" failed: %s', async (request, fault) => {
  const election = new FaultyElection();
  if (request !== 'renew' && request !== 'release' && request !== 'take') election.inject(request, fault);
  const first = election.start('a');
  if (request === 'renew' || request === 'release' || request === 'take') {
    await election.pass(RETRY_MS);
    expect(first.leading).toBe(true);
    election.inject(request, fault);
  }
  election.start('b');
  await election.pass(RETRY_MS);
  const stopping = request === 'release' || request === 'take' ? first.stop() : undefined;
  await election.pass((fault === 'for 60 s' ? MINUTE : DEADLINE_MS) + LEASE_MS + 5 * RETRY_MS);
  await stopping;

  expect(election.hits).toBeGreaterThan(0);
  expect(election.leaders).toHaveLength(1);
  expect(election.fences).toEqual([...new Set(election.fences)].sort((a, b) => a - b));
  for (const replica of election.replicas) await replica.stop();
});

test('a replica that holds the Lease without its fence says that it does not lead', async () => {
  const election = new FaultyElection();
  election.inject('fence', 'for 60 s');
  const replica = election.start('a');
  await election.pass(4 * RETRY_MS);
  expect([replica.holding, replica.leading]).toEqual([true, false]);
  await election.pass(MINUTE);
  expect([replica.holding, replica.leading]).toEqual([true, true]);
  await replica.stop();
  expect([replica.holding, replica.leading]).toEqual([false, false]);
});

test('a candidate leads within a second after the Lease was released', async () => {
  const election = new FaultyElection();
  const first = election.start('a');
  const second = election.start('b');
  await election.pass(5 * RETRY_MS + 1_000);
  expect(first.leading).toBe(true);
  await first.stop();
  await election.pass(1_000);
  expect(second.leading).toBe(true);
  await second.stop();
});

test('a candidate that is told that the Lease was released leads at once', async () => {
  const election = new FaultyElection();
  const first = election.start('a');
  const second = election.start('b');
  await election.pass(5 * RETRY_MS + 100);
  // The holder is alive: a hint changes nothing.
  second.look();
  await election.clock.advance(0);
  expect([first.leading, second.leading]).toEqual([true, false]);
  await first.stop();
  second.look();
  await election.clock.advance(0);
  expect(second.leading).toBe(true);
  await second.stop();
});

test('a candidate without a database does not take the Lease again because of its own release', async () => {
  const election = new FaultyElection();
  election.inject('database', 'for 60 s');
  const replica = election.start('a');
  await election.clock.advance(0);
  for (let i = 0; i < 20; i++) {
    replica.look();
    await election.clock.advance(0);
  }
  expect(election.hits).toBe(1);
  await election.pass(MINUTE + RETRY_MS);
  expect(replica.leading).toBe(true);
  await replica.stop();
});

test('a candidate leads within a second after the Lease of a dead leader expired', async () => {
  const election = new FaultyElection();
  election.start('a');
  const second = election.start('b');
  await election.pass(5 * RETRY_MS);
  // The last renewal was at most one period ago.
  election.inject('renew', 'for 60 s');
  await election.pass(LEASE_MS + 1_000);
  expect(second.leading).toBe(true);
  for (const replica of election.replicas) await replica.stop();
});
