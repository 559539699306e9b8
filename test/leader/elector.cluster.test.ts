import { type Clock, systemClock } from '../../runtime/clock';
import { type ClientOptions, createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { leases } from '../../runtime/kubernetes/paths';
import type { Lease } from '../../runtime/kubernetes/types';
import {
  FENCE_ANNOTATION,
  LAST_FENCE_ANNOTATION,
  LeaderElector,
  type LeaderElectorOptions,
} from '../../runtime/leader/elector';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { everything, type FaultProxy, type Match, startFaultProxy } from '../kubernetes/fault-proxy';
import { ManualClock } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const QUICK = { leaseDuration: 2_000, renewDeadline: 1_200, retryPeriod: 200 };

/** One replica: its elector behind a proxy of its own. */
interface Replica {
  readonly elector: LeaderElector;
  readonly proxy: FaultProxy;
  readonly acquired: number[];
  readonly lost: string[];
}

const writes: Match = ({ method }) => method !== 'GET';

describeCluster('leader election', tests, { scheduler: false });

function tests(getCluster: () => Cluster): void {
  let admin: KubernetesClient;
  let name = '';
  let count = 0;
  let fence = 0;
  let replicas: Replica[];
  let clients: KubernetesClient[];

  beforeAll(() => {
    admin = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => admin.close());
  beforeEach(() => {
    count += 1;
    name = `leader-${count}`;
    fence = 0;
    replicas = [];
    clients = [];
  });
  afterEach(async () => {
    for (const { proxy } of replicas) proxy.resume();
    for (const client of clients) client.close();
    await Promise.all(replicas.map(({ elector }) => elector.stop()));
    await Promise.all(replicas.map(({ proxy }) => proxy.stop()));
  });

  async function replica(
    identity: string | undefined,
    options: Partial<LeaderElectorOptions> = {},
  ): Promise<Replica> {
    const proxy = await startFaultProxy(getCluster());
    const settings: ClientOptions = { kubeconfig: proxy.kubeconfig };
    const client = createClient(settings);
    const acquired: number[] = [];
    const lost: string[] = [];
    const elector = new LeaderElector({
      client,
      namespace: 'default',
      name,
      ...(identity === undefined ? {} : { identity }),
      fence: async () => {
        fence += 1;
        return fence;
      },
      onAcquired: (number) => acquired.push(number),
      onLost: (reason) => lost.push(reason),
      logger: recordingLogger(),
      ...QUICK,
      ...options,
    });
    const made = { elector, proxy, acquired, lost };
    replicas.push(made);
    clients.push(client);
    elector.start();
    return made;
  }

  const stored = () => admin.get<Lease>(leases('default', name));
  const leads = ({ elector }: Replica) =>
    waitFor(`${elector.identity} to lead`, () => elector.leading, { everyMs: 5 });
  const loses = ({ elector, lost }: Replica, times: number) =>
    waitFor(`${elector.identity} to lose`, () => lost.length === times, { everyMs: 5 });

  test('one leads, its fence stands on the Lease; released, the other takes over at once', async () => {
    const a = await replica('a');
    await leads(a);
    const b = await replica('b');
    await waitFor('b to look', () => b.elector.holder === 'a');
    expect(await stored()).toMatchObject({
      metadata: { annotations: { [FENCE_ANNOTATION]: '1' } },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 2, leaseTransitions: 0 },
    });
    expect([a.acquired, b.acquired, a.elector.fence, b.elector.fence]).toEqual([[1], [], 1, undefined]);

    await a.elector.stop();
    expect(a.elector.leading).toBe(false);
    const released = await stored();
    expect(released.spec?.holderIdentity ?? '').toBe('');
    expect(released.metadata.annotations?.[FENCE_ANNOTATION]).toBeUndefined();
    await leads(b);
    expect(await stored()).toMatchObject({
      metadata: { annotations: { [FENCE_ANNOTATION]: '2' } },
      spec: { holderIdentity: 'b', leaseTransitions: 1 },
    });
    expect([a.lost, b.lost]).toEqual([[], []]);
  });

  test('a database that has forgotten fences is told the last one, also by who never led before', async () => {
    const told: number[] = [];
    const forgetful = async (atLeast: number) => {
      told.push(atLeast);
      return atLeast + 1;
    };
    fence = 40;
    const a = await replica('a');
    await leads(a);
    await a.elector.stop();
    const b = await replica('b', { fence: forgetful });
    await leads(b);
    await b.elector.stop();
    // What is no fence, by whatever hand, counts for nothing; what was a fence stays.
    const annotations = { [FENCE_ANNOTATION]: 'many', note: 'hands off' };
    await admin.patch(leases('default', name), { metadata: { annotations } }, 'merge');
    const c = await replica('c', { fence: forgetful });
    await leads(c);
    expect(told).toEqual([41, 42]);
    expect((await stored()).metadata.annotations).toEqual({
      note: 'hands off',
      [FENCE_ANNOTATION]: '43',
      [LAST_FENCE_ANNOTATION]: '43',
    });
  });

  test('a leader that is cut off stops before the other begins, and says so once', async () => {
    const order: string[] = [];
    const note = (what: string) => () => order.push(what);
    const a = await replica('a', { onAcquired: note('a leads'), onLost: note('a lost') });
    await leads(a);
    const b = await replica('b', { onAcquired: note('b leads'), onLost: note('b lost') });
    await waitFor('b to look', () => b.elector.holder === 'a');
    a.proxy.stall();
    await leads(b);
    expect(order).toEqual(['a leads', 'a lost', 'b leads']);
    a.proxy.resume();
    await waitFor('a to see b', () => a.elector.holder === 'b');
    expect([a.elector.leading, order.length]).toEqual([false, 3]);
  });

  test('clocks that disagree by an hour and run at different speeds make no second leader', async () => {
    const skewed = (offset: number, speed: number): Clock => ({
      now: () => systemClock.now() * speed + offset,
      after: (milliseconds, callback) => systemClock.after(milliseconds / speed, callback),
    });
    const a = await replica('a', { clock: skewed(0, 0.85) });
    await leads(a);
    const b = await replica('b', { clock: skewed(3_600_000, 1.15) });
    await waitFor('b to look', () => b.elector.holder === 'a');
    // For longer than a Lease lasts nothing may change hands.
    const until = systemClock.now() + QUICK.leaseDuration * 1.5;
    await waitFor('time', () => systemClock.now() > until);
    expect([a.elector.leading, b.acquired]).toEqual([true, []]);
    const leadersAtOnce: number[] = [];
    a.proxy.stall();
    await waitFor(
      'b to lead',
      () => {
        leadersAtOnce.push([a, b].filter(({ elector }) => elector.leading).length);
        return b.elector.leading;
      },
      { everyMs: 5 },
    );
    expect(Math.max(...leadersAtOnce)).toBe(1);
    expect(a.lost).toHaveLength(1);
  });

  test('whatever happens to their connections, never two lead and every fence is higher', async () => {
    const both = [await replica('a'), await replica('b')] as const;
    const seen: number[][] = [];
    const random = generator(7);
    const storm = async (description: string, over: () => boolean) => {
      await waitFor(
        description,
        () => {
          disturb(both[random() < 0.5 ? 0 : 1].proxy, random());
          const fences = both.flatMap(({ elector }) => elector.fence ?? []);
          if (String(fences) !== String(seen.at(-1) ?? [])) seen.push(fences);
          return over();
        },
        { everyMs: 10 },
      );
    };
    for (const round of [1, 2]) {
      await storm(`leader ${round}`, () => both.some(({ elector }) => elector.leading));
      const [leader, other] = both[0].elector.leading ? both : [both[1], both[0]];
      leader.proxy.stall();
      await storm(`a successor ${round}`, () => other.elector.leading);
      leader.proxy.resume();
    }
    expect(seen.filter((fences) => fences.length > 1)).toEqual([]);
    const taken = seen.flat();
    expect(new Set(taken).size).toBeGreaterThan(2);
    expect(taken).toEqual([...taken].sort((one, other) => one - other));
    for (const { acquired, lost, elector } of both)
      expect(acquired.length - lost.length).toBe(elector.leading ? 1 : 0);
  });

  test('an acquisition whose answer was lost is found again', async () => {
    const a = await replica('a');
    a.proxy.inject(writes, { kind: 'lose-answer' }, 1);
    await leads(a);
    expect([a.acquired, fence]).toEqual([[1], 1]);
  });

  test('a renewal whose answer was lost costs nothing', async () => {
    const a = await replica('a');
    await leads(a);
    const before = await stored();
    a.proxy.inject(writes, { kind: 'lose-answer' }, 1);
    await waitFor('renewals', async () => {
      const now = await stored();
      return Number(now.metadata.resourceVersion) > Number(before.metadata.resourceVersion) + 3;
    });
    expect([a.elector.leading, a.lost, a.acquired]).toEqual([true, [], [1]]);
  });

  test('without a fence from the database the Lease is given to another candidate', async () => {
    const a = await replica('a', {
      fence: async () => {
        throw new Error('database down');
      },
    });
    const b = await replica('b');
    await leads(b);
    expect([a.acquired, a.lost]).toEqual([[], []]);
  });

  test('while the database thinks, the Lease is renewed and nobody leads; stop gives it back', async () => {
    let asked = 0;
    const a = await replica('a', {
      fence: () => {
        asked += 1;
        return new Promise<number>(() => undefined);
      },
    });
    await waitFor('the question', () => asked === 1);
    const first = (await stored()).spec?.renewTime;
    await waitFor('renewals', async () => (await stored()).spec?.renewTime !== first);
    expect([a.elector.leading, a.elector.fence]).toEqual([false, undefined]);
    await a.elector.stop();
    expect((await stored()).spec?.holderIdentity ?? '').toBe('');
    expect([a.acquired, a.lost, asked]).toEqual([[], [], 1]);
  });

  test('a Lease that is deleted or taken by hand ends the term, once; then it is won again', async () => {
    const a = await replica('a');
    await leads(a);
    await admin.delete(leases('default', name));
    await loses(a, 1);
    await leads(a);
    const lease = await stored();
    const spec = { ...lease.spec, holderIdentity: 'thief', leaseDurationSeconds: 1 };
    await admin.patch(leases('default', name), { spec }, 'merge');
    await loses(a, 2);
    expect(a.lost).toEqual(['the lease was taken by nobody', 'the lease was taken by thief']);
    await leads(a);
    expect(a.acquired).toEqual([1, 2, 3]);
  });

  test("a user's annotation on the Lease stays and disturbs nobody", async () => {
    const a = await replica('a');
    await leads(a);
    await admin.patch(leases('default', name), { metadata: { annotations: { note: 'hands off' } } }, 'merge');
    const version = (await stored()).metadata.resourceVersion;
    await waitFor('a renewal', async () => (await stored()).metadata.resourceVersion !== version);
    expect((await stored()).metadata.annotations).toEqual({
      note: 'hands off',
      [FENCE_ANNOTATION]: '1',
      [LAST_FENCE_ANNOTATION]: '1',
    });
    expect(a.lost).toEqual([]);
  });

  test('a frozen process does not take itself for the leader when it wakes', async () => {
    const clock = new ManualClock();
    const a = await replica('a', { clock });
    await leads(a);
    clock.freeze(QUICK.renewDeadline);
    expect(a.elector.leading).toBe(false);
    expect(a.lost).toEqual([]);
    await clock.advance(0);
    expect(a.lost).toEqual(['not renewed for 1.2 s']);
  });

  test('the leader survives a restart of the apiserver or loses once, and one leads afterwards', async () => {
    const a = await replica('a');
    await leads(a);
    const b = await replica('b');
    await getCluster().restartApiserver();
    const leader = await waitFor('a leader', () => [a, b].find(({ elector }) => elector.leading));
    expect(a.lost.length).toBe(leader === a && a.acquired.length === 1 ? 0 : 1);
  });

  describe('a holder that has died without giving the Lease back', () => {
    const POD = '3f0c0a52-7d0f-4f0e-9d6f-5b9a2c1d8e77';

    /** Far from running out, by the clock of a replica whose clock stands still. */
    async function hold(holderIdentity: string): Promise<void> {
      const now = new Date().toISOString().replace('Z', '000Z');
      await admin.create(leases('default'), {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: 'default', annotations: { [FENCE_ANNOTATION]: '7' } },
        spec: { holderIdentity, leaseDurationSeconds: 600, renewTime: now, leaseTransitions: 3 },
      });
    }
    const candidate = (podUid?: string) =>
      replica(undefined, {
        clock: new ManualClock(),
        fence: async (atLeast) => atLeast + 1,
        ...(podUid === undefined ? {} : { podUid }),
      });

    test('is replaced at once by the next process of its pod, under a higher fence', async () => {
      await hold(`controller-0_${POD}_an-earlier-process`);
      const a = await candidate(POD);
      await leads(a);
      expect(a.acquired).toEqual([8]);
      expect(a.elector.identity).toMatch(new RegExp(`_${POD}_[-0-9a-f]{36}$`));
      expect(await stored()).toMatchObject({
        metadata: { annotations: { [FENCE_ANNOTATION]: '8', [LAST_FENCE_ANNOTATION]: '8' } },
        spec: { holderIdentity: a.elector.identity, leaseTransitions: 4 },
      });
    });

    test.each([
      ['of another pod with the same name', `controller-0_${POD.replace('3', '4')}_process`, POD],
      ['of a pod whose UID only ends alike', `controller-0_1${POD}_process`, POD],
      ['on the same host, where nobody says which pod that is', `controller-0_${POD}_process`, undefined],
      ['that has the UID for a name', POD, POD],
    ])('is waited for when it is %s', async (_, holder, podUid) => {
      await hold(holder);
      const a = await candidate(podUid);
      await waitFor('a look', () => a.elector.holder === holder);
      expect([a.elector.leading, a.acquired]).toEqual([false, []]);
      expect((await stored()).spec?.holderIdentity).toBe(holder);
    });

    test('is overtaken by one process only, whose successor overtakes it in turn', async () => {
      const a = await candidate(POD);
      await leads(a);
      const b = await candidate(POD);
      await leads(b);
      expect([a.acquired, b.acquired]).toEqual([[1], [2]]);
      expect((await stored()).spec?.holderIdentity).toBe(b.elector.identity);
    });
  });

  test('times that contradict each other are refused', () => {
    const options = {
      client: admin,
      namespace: 'default',
      name,
      fence: async () => 1,
      logger: recordingLogger(),
    };
    const callbacks = { onAcquired: () => undefined, onLost: () => undefined };
    expect(
      () => new LeaderElector({ ...options, ...callbacks, leaseDuration: 5_000, renewDeadline: 5_000 }),
    ).toThrow(/FLUXQ_LEASE_TIMING: leader-\d+: the times .* contradict each other/);
  });
}

/** Called a hundred times a second: most of the time nothing. */
function disturb(proxy: FaultProxy, dice: number): void {
  if (dice < 0.01) proxy.resetConnections();
  else if (dice < 0.02) proxy.inject(writes, { kind: 'lose-answer' }, 1);
  else if (dice < 0.03) proxy.inject(everything, { kind: 'delay', milliseconds: 500 }, 1);
  else if (dice < 0.04) proxy.inject(everything, { kind: 'answer', status: 500 }, 1);
}

/** The same numbers in every run (a linear congruential generator). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
