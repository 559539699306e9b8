import { isLarge } from '../../runtime/kubernetes/object-size';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { formatKey } from '../../runtime/shared/workload-key';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { LargeReleases } from '../../runtime/workloads/large-releases';
import { ManualClock } from '../kubernetes/manual-clock';

describe('releases of large objects', () => {
  let clock: ManualClock;
  let enqueued: string[];
  let releases: LargeReleases;
  beforeEach(() => {
    clock = new ManualClock();
    enqueued = [];
    releases = new LargeReleases({ clock, enqueue: (key) => enqueued.push(formatKey(key)) });
  });

  const row = (namespace: string, name = 'large') => ({ kind: 'Job', namespace, name }) as WorkloadRow;
  const workload = (size: number, namespace: string, name?: string) => ({
    row: row(namespace, name),
    object: { metadata: { name: 'x'.repeat(size) } } as KubernetesObject,
    adapter: { isLarge } as unknown as WorkloadAdapter,
  });
  const takes = (milliseconds: number) => async () => {
    clock.freeze(milliseconds);
    return 'released';
  };
  const large = (namespace: string, name?: string) =>
    releases.run(workload(200_000, namespace, name), takes(1_000));

  test('a small object never waits', async () => {
    await large('a');
    expect(await releases.run(workload(10_000, 'b'), takes(1))).toBe('released');
  });

  test('the next large one is enqueued after a pause of three times the release', async () => {
    expect(await large('a')).toBe('released');
    expect(await large('b')).toBeUndefined();
    await clock.advance(2_999);
    expect(enqueued).toEqual([]);
    await clock.advance(1);
    expect(enqueued).toEqual(['Job/b/large']);
    expect(await large('b')).toBe('released');
  });

  test('namespaces take turns', async () => {
    await large('a');
    for (const name of ['first', 'second', 'third']) await large('a', name);
    await large('b');
    await clock.advance(3_000);
    await large('a', 'first');
    await clock.advance(3_000);
    expect(enqueued).toEqual(['Job/a/first', 'Job/b/large']);
  });

  test('a workload that is gone when its turn comes keeps no other one waiting', async () => {
    await large('a');
    await large('gone');
    await large('b');
    await clock.advance(3_000);
    expect(enqueued).toEqual(['Job/gone/large']);
    await clock.advance(1_000);
    expect(enqueued).toEqual(['Job/gone/large', 'Job/b/large']);
  });

  test('a release that fails is followed by a pause too', async () => {
    const failure = releases.run(workload(200_000, 'a'), async () => {
      clock.freeze(500);
      throw new Error('no answer');
    });
    await expect(failure).rejects.toThrow('no answer');
    expect(await large('b')).toBeUndefined();
    await clock.advance(1_500);
    expect(enqueued).toEqual(['Job/b/large']);
  });

  test('leaves no timer when it stops, before or during a release', async () => {
    await large('a');
    await large('b');
    releases.stop();
    expect(clock.next).toBeUndefined();

    const others = new LargeReleases({ clock, enqueue: () => undefined });
    await others.run(workload(200_000, 'a'), async () => others.stop());
    expect(clock.next).toBeUndefined();
  });
});
