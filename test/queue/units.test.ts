/** The sizes of units change while workloads wait and run: with the configuration, an upgrade or its undoing. */
import { askOf, jobspecOf } from '../../runtime/jobspec/jobspec';
import type { Quantities } from '../../runtime/jobspec/pod';
import { DEFAULT_UNITS, type UnitSettings } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { AllocatedNode } from '../../runtime/resources/types';
import { unitCounts } from '../../runtime/resources/unit-counts';
import { describePostgres } from '../cluster/suite';
import { submission } from './submission';

const COARSE = DEFAULT_UNITS;
const FINE = { cpuMillis: 100, memoryMiB: 128 };

const { openQueue: openPrevious } = jest.requireActual<{ openQueue: (options: { url: string }) => Queue }>(
  './releases/previous.cjs',
);

function jobspec(requests: Quantities, units: UnitSettings, pods = 1, exclusive = false) {
  const pod = { containers: [{ resources: { requests } }] };
  return jobspecOf({ pod, pods, walltime: 60, units, exclusive });
}

/** As the release before stored it. */
function former(requests: Quantities, pods = 1) {
  const { attributes, ...rest } = jobspec(requests, COARSE, pods);
  return { ...rest, attributes: { system: attributes.system } };
}

describePostgres('units', (getPostgres) => {
  let url: string;
  const opened: Queue[] = [];

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
  });
  afterEach(async () => {
    for (const queue of opened.splice(0)) await queue.close();
  });

  async function lead(units: UnitSettings | 'previous'): Promise<{ queue: Queue; fence: number }> {
    const queue = units === 'previous' ? openPrevious({ url }) : openQueue({ url, units });
    opened.push(queue);
    await queue.migrate();
    return { queue, fence: await queue.acquireFence('test') };
  }

  async function grant(
    { queue, fence }: { queue: Queue; fence: number },
    uid: string,
    given: WorkloadRow['jobspec'],
    nodes: readonly AllocatedNode[],
  ): Promise<void> {
    const [row] = await queue.submit(fence, [submission(uid, { jobspec: given })]);
    const allocation = { jobid: row!.jobid, start: 1, end: 61, nodes };
    await queue.allocate(fence, [{ uid, allocation }]);
  }

  const rowOf = async (queue: Queue, uid: string) => (await queue.byUid([uid]))[0]!;

  test('converts what waits and what is granted, also of a release that did not name its units', async () => {
    const before = await lead('previous');
    await grant(before, 'gang', former({ cpu: '2', memory: '1Gi' }, 2), [
      { name: 'a', units: { core: '0-1', memory: '0' } },
      { name: 'b', units: { core: '1-2', memory: '3' } },
    ]);
    await grant(before, 'other', former({ cpu: '1' }), [{ name: 'b', units: { core: '0' } }]);
    await before.queue.submit(before.fence, [submission('waits', { jobspec: former({ cpu: '1' }) })]);
    const { queue } = await lead(FINE);
    const [gang, other, waits] = await Promise.all(
      ['gang', 'other', 'waits'].map((uid) => rowOf(queue, uid)),
    );
    expect(askOf(gang!.jobspec)).toEqual({ pods: 2, perPod: { core: 20, memory: 8 }, exclusive: false });
    expect(gang!.allocation!.nodes).toEqual([
      { name: 'a', units: { core: '0-19', memory: '0-7' } },
      { name: 'b', units: { core: '0-19', memory: '0-7' } },
    ]);
    expect(other!.allocation!.nodes).toEqual([{ name: 'b', units: { core: '20-29' } }]);
    expect(askOf(waits!.jobspec).perPod).toEqual({ core: 10 });
  });

  test('counts the requests again, so that nothing is lost on the way back', async () => {
    const fine = await lead(FINE);
    const nodes = [{ name: 'a', units: { core: '0-8', memory: '0-5' } }];
    await grant(fine, 'small', jobspec({ cpu: '250m', memory: '200Mi' }, FINE, 3), nodes);
    const whole = [{ name: 'b', units: { core: '0-38' }, exclusive: true }];
    await grant(fine, 'whole', jobspec({ cpu: '3' }, FINE, 1, true), whole);
    const coarse = await lead(COARSE);
    const small = await rowOf(coarse.queue, 'small');
    expect(askOf(small.jobspec).perPod).toEqual({ core: 1, memory: 1 });
    expect(unitCounts(small.allocation!)).toEqual({ core: 3, memory: 3 });
    expect((await rowOf(coarse.queue, 'whole')).allocation!.nodes).toEqual([
      { name: 'b', units: { core: '0-2' }, exclusive: true },
    ]);
    const again = await lead(FINE);
    expect((await rowOf(again.queue, 'small')).allocation!.nodes).toEqual(nodes);
    expect((await rowOf(again.queue, 'small')).jobspec).toEqual(
      jobspec({ cpu: '250m', memory: '200Mi' }, FINE, 3),
    );
  });

  test('leaves rows alone that are in its units, although a release in between did not know them', async () => {
    const fine = await lead(FINE);
    const nodes = [{ name: 'a', units: { core: '0-2' } }];
    await grant(fine, 'kept', jobspec({ cpu: '300m' }, FINE), nodes);
    const previous = await lead('previous');
    expect((await rowOf(previous.queue, 'kept')).allocation!.nodes).toEqual(nodes);
    await grant(previous, 'between', former({ cpu: '1' }), [{ name: 'a', units: { core: '0' } }]);
    const { queue } = await lead(FINE);
    expect((await rowOf(queue, 'kept')).allocation!.nodes).toEqual(nodes);
    // Beside the units of the other row, as always.
    expect((await rowOf(queue, 'between')).allocation!.nodes).toEqual([
      { name: 'a', units: { core: '3-12' } },
    ]);
  });

  test('does not touch rows of a leader with the same units', async () => {
    const first = await lead(COARSE);
    await grant(first, 'kept', former({ cpu: '1' }), [{ name: 'a', units: { core: '7' } }]);
    const before = await rowOf(first.queue, 'kept');
    const { queue } = await lead(COARSE);
    expect(await rowOf(queue, 'kept')).toEqual(before);
  });
});
