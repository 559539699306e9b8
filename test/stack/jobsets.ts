/** What tests do with JobSets in a namespace of a live stack. */
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import { type JobSet, jobSet, jobSets, type SetShape } from '../kinds/jobsets';
import type { Fixture } from './suite';
import type { Namespace } from './workloads';

export function jobSetsOf(getFixture: () => Fixture, namespace: () => Namespace) {
  type More = Parameters<typeof jobSet>[2];
  const create = async (name: string, sets: Record<string, SetShape>, more: More = {}) => {
    const made = await getFixture().client.create<JobSet>(
      jobSets('science'),
      jobSet(name, sets, {
        ...more,
        metadata: { annotations: { 'fluxqueue/walltime': '1h' }, ...more.metadata },
      }),
    );
    namespace().uids.push(made.metadata.uid);
    return made;
  };
  const read = ({ metadata: { name } }: JobSet) => getFixture().client.get<JobSet>(jobSets('science', name));
  const patch = ({ metadata: { name } }: JobSet, body: object) =>
    getFixture().client.patch<JobSet>(jobSets('science', name), body, 'merge');
  const delet = ({ metadata: { name } }: JobSet) =>
    getFixture().client.delete(jobSets('science', name), { propagationPolicy: 'Background' });
  const podsOf = async ({ metadata: { name } }: JobSet, set?: string) =>
    (await namespace().pods()).filter(
      ({ metadata: { labels = {} } }) =>
        labels['jobset.sigs.k8s.io/jobset-name'] === name &&
        (set === undefined || labels['jobset.sigs.k8s.io/replicatedjob-name'] === set),
    );
  const running = (jobSet: JobSet, count: number, set?: string) =>
    waitFor(`${count} pods of ${jobSet.metadata.name} to run`, async () => {
      const found = await podsOf(jobSet, set);
      return found.filter(({ status }) => status?.phase === 'Running').length === count && found;
    });
  const end = async (pods: readonly Pod[]) => {
    for (const { metadata } of pods)
      await getFixture().client.patch(
        podPath('science', metadata.name, 'status'),
        { status: { phase: 'Succeeded' } },
        'merge',
      );
  };
  const gone = async (made: JobSet) => {
    await waitFor(`all of ${made.metadata.name} to be gone`, async () => {
      const row = await namespace().row(made);
      const left = await podsOf(made);
      const record = await namespace().fluxJob(`${made.metadata.name}-jobset`);
      return row?.phase === 'Finished' && left.length === 0 && record === undefined;
    });
  };
  return { create, read, patch, delet, podsOf, running, end, gone };
}

/** Every pod runs on a node of the grant, and on each node no more pods of a set than were granted there. */
export function expectPlaced(row: WorkloadRow, pods: readonly Pod[]): void {
  const live = pods.filter(({ status }) => status?.phase === 'Running');
  for (const { name, podSets } of row.allocation!.nodes) {
    const here = live.filter(({ spec }) => spec.nodeName === name);
    for (const [set, count] of Object.entries(podSets ?? {}))
      expect(
        here.filter(({ metadata }) => metadata.labels?.['jobset.sigs.k8s.io/replicatedjob-name'] === set)
          .length,
      ).toBeLessThanOrEqual(count);
  }
  const granted = row.allocation!.nodes.map(({ name }) => name);
  for (const { spec } of live) expect(granted).toContain(spec.nodeName);
}
