import { fluxJobSpec, fluxJobStatus } from '../../runtime/fluxjobs/status';
import { InternPool } from '../../runtime/intern';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { projectFluxJob } from '../../runtime/shared/fluxjob-projection';
import { rowIn } from '../queue/rows';
import { metadata } from './fake-informer';

function fluxJob(row: WorkloadRow): FluxJobObject {
  const status = fluxJobStatus(row, { position: 2, wait: undefined, previous: {}, now: 100 });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: row.name, uid: row.uid };
  const named = { ...metadata(`${row.name}-job`), ownerReferences: [owner] };
  return { metadata: named, spec: fluxJobSpec(row, 'batch/v1'), status };
}

/** As the apiserver answers: with its keys in another order. */
const sorted = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) as T;

test.each(['Waiting', 'Running', 'Finished'] as const)(
  'keeps status and spec of a FluxJob that is %s',
  (phase) => {
    const written = fluxJob(rowIn(phase, { uid: 'w' }));
    const { workload, ...spec } = written.spec;
    const kept = projectFluxJob(sorted(written), new InternPool());
    expect(kept).toEqual({ uid: written.metadata.uid, workload: workload.uid, spec, status: written.status });
  },
);

test('a FluxJob that lost its owner says so', () => {
  const owned = fluxJob(rowIn('Finished', { uid: 'w' }));
  const { ownerReferences: _, ...alone } = owned.metadata;
  expect(projectFluxJob(owned, new InternPool()).isOrphan).toBeUndefined();
  expect(projectFluxJob({ ...owned, metadata: alone }, new InternPool()).isOrphan).toBe(true);
});

test('what was written and what the watch delivers share spec and conditions', () => {
  const pool = new InternPool();
  const written = fluxJob(rowIn('Waiting', { uid: 'w' }));
  const [mine, watched] = [written, sorted(written)].map((object) => projectFluxJob(object, pool));
  expect(watched!.spec).toBe(mine!.spec);
  expect(watched!.status.conditions).toBe(mine!.status.conditions);
});

test('a FluxJob without a status has an empty one', () => {
  const { status: _, ...created } = fluxJob(rowIn('Waiting'));
  expect(projectFluxJob(created, new InternPool()).status).toEqual({});
});
