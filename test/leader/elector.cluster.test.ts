// Own cluster: the apiserver is restarted.
import { type Clock, systemClock } from '../../runtime/clock';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { leases } from '../../runtime/kubernetes/paths';
import { LeaderElector, type LeaderElectorOptions } from '../../runtime/leader/elector';
import { FENCE_ANNOTATION, LAST_FENCE_ANNOTATION } from '../../runtime/leader/lease';
import type { Cluster } from '../cluster/cluster';
import { describeOwnCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { everything, type FaultProxy, type Match } from '../kubernetes/fault-proxy';
import { ManualClock } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { leads, loses, QUICK, Replicas } from './replicas';

const writes: Match = ({ method }) => method !== 'GET';

describeOwnCluster('leader election', tests, { scheduler: false });

function tests(getCluster: () => Cluster): void {
  let admin: KubernetesClient;
  let count = 0;
  let replicas: Replicas;
  let name: string;

  beforeAll(() => {
    admin = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => admin.close());
  beforeEach(() => {
    count += 1;
    name = `leader-${count}`;
    replicas = new Replicas(getCluster(), admin, name);
  });
  afterEach(() => replicas.stop());

  const replica = (identity: string, options: Partial<LeaderElectorOptions> = {}) =>
    replicas.start(identity, options);
  const stored = () => replicas.stored();

  test('one replica leads with its fence on the Lease, and the other one leads as soon as the Lease is released', async () => {
    const a = await replica('a');
    await leads(a);
    const b = await replica('b');
    await waitFor('b to read the Lease', () => b.elector.holder === 'a');
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

  test('a database that has forgotten fences gets the last one from the Lease, also from a new replica', async () => {
    const requested: number[] = [];
    const forgetful = async (atLeast: number) => {
      requested.push(atLeast);
      return atLeast + 1;
    };
    replicas.fence = 40;
    const a = await replica('a');
    await leads(a);
    await a.elector.stop();
    const b = await replica('b', { fence: forgetful });
    await leads(b);
    await b.elector.stop();
    // An annotation that is not a fence is ignored; the highest fence is kept.
    const annotations = { [FENCE_ANNOTATION]: 'many', note: 'hands off' };
    await admin.patch(leases('default', name), { metadata: { annotations } }, 'merge');
    const c = await replica('c', { fence: forgetful });
    await leads(c);
    expect(requested).toEqual([41, 42]);
    expect((await stored()).metadata.annotations).toEqual({
      note: 'hands off',
      [FENCE_ANNOTATION]: '43',
      [LAST_FENCE_ANNOTATION]: '43',
    });
  });

  test('a leader without a connection stops before the other one begins, and reports it once', async () => {
    const order: string[] = [];
    const note = (what: string) => () => order.push(what);
    const a = await replica('a', { onAcquired: note('a leads'), onLost: note('a lost') });
    await leads(a);
    const b = await replica('b', { onAcquired: note('b leads'), onLost: note('b lost') });
    await waitFor('b to read the Lease', () => b.elector.holder === 'a');
    a.proxy.stall();
    await leads(b);
    expect(order).toEqual(['a leads', 'a lost', 'b leads']);
    a.proxy.resume();
    await waitFor('a to see b', () => a.elector.holder === 'b');
    expect([a.elector.leading, order.length]).toEqual([false, 3]);
  });

  test('clocks that differ by an hour and in speed cause no second leader', async () => {
    const skewed = (offset: number, speed: number): Clock => ({
      now: () => systemClock.now() * speed + offset,
      after: (milliseconds, callback) => systemClock.after(milliseconds / speed, callback),
    });
    const a = await replica('a', { clock: skewed(0, 0.85) });
    await leads(a);
    const b = await replica('b', { clock: skewed(3_600_000, 1.15) });
    await waitFor('b to read the Lease', () => b.elector.holder === 'a');
    // The leader must not change for longer than the duration of the Lease.
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

  test('random connection faults never cause two leaders, and every fence is higher than the last', async () => {
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

  test('a replica leads although the answer to its acquisition was lost', async () => {
    const a = await replica('a');
    a.proxy.inject(writes, { kind: 'lose-answer' }, 1);
    await leads(a);
    expect([a.acquired, replicas.fence]).toEqual([[1], 1]);
  });

  test('the leader keeps the Lease although the answer to a renewal was lost', async () => {
    // A busy machine may keep it from renewing for a second.
    const a = await replica('a', { leaseDuration: 30_000, renewDeadline: 20_000 });
    await leads(a);
    const before = await stored();
    a.proxy.inject(writes, { kind: 'lose-answer' }, 1);
    await waitFor('renewals', async () => {
      const now = await stored();
      return Number(now.metadata.resourceVersion) > Number(before.metadata.resourceVersion) + 3;
    });
    expect([a.elector.leading, a.lost, a.acquired]).toEqual([true, [], [1]]);
  });

  test('a replica that gets no fence from the database releases the Lease to another one', async () => {
    const a = await replica('a', {
      fence: async () => {
        throw new Error('database down');
      },
    });
    const b = await replica('b');
    await leads(b);
    expect([a.acquired, a.lost]).toEqual([[], []]);
  });

  test('the Lease is renewed while the database delays the fence, nobody leads, and stop releases it', async () => {
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

  test('a Lease that a user deletes or changes ends the term once, and is acquired again', async () => {
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

  test("a user's annotation on the Lease is kept and does not end the term", async () => {
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

  test('a process that was frozen past its deadline does not lead', async () => {
    const clock = new ManualClock();
    const a = await replica('a', { clock });
    await leads(a);
    clock.freeze(QUICK.renewDeadline);
    expect(a.elector.leading).toBe(false);
    expect(a.lost).toEqual([]);
    await clock.advance(0);
    expect(a.lost).toEqual(['not renewed for 1.2 s']);
  });

  test('after a restart of the apiserver one replica leads, and the other one lost at most once', async () => {
    const a = await replica('a');
    await leads(a);
    const b = await replica('b');
    await getCluster().restartApiserver();
    const leader = await waitFor('a leader', () => [a, b].find(({ elector }) => elector.leading));
    expect(a.lost.length).toBe(leader === a && a.acquired.length === 1 ? 0 : 1);
  });

  test('refuses conflicting times', () => {
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
    ).toThrow(/FLUXQ_LEASE_TIMING: leader-\d+: the times .* conflict with each other/);
  });
}

/** Called a hundred times per second; it rarely injects a fault. */
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
