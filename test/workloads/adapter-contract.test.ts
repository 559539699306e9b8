/**
 * What every adapter of the registry promises, whatever its kind. Over a life, what the object carries (`recordedGrant`), how it has
 * ended (`outcome`) and what it asks for (`demand`) agree.
 */
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { placementOf } from '../../runtime/workloads/assignment';
import { podsOf } from '../../runtime/workloads/demand';
import { adapters } from '../../runtime/workloads/index';
import { applied, ended, inPhase, isPod, released } from './specimen-life';
import {
  grantedRow,
  NODE,
  NOW,
  PODS,
  type Specimen,
  specimenOf,
  submissionOf,
  timeOf,
  watched,
} from './specimens';

const KINDS = [...adapters.keys()];

/** What the parts of the controller take from one workload. */
function viewOf(specimen: Specimen, row?: WorkloadRow) {
  const { adapter } = specimen;
  const { object, pods } = watched(specimen, row);
  const grant = adapter.recordedGrant(object, pods);
  return {
    isSuspended: adapter.isSuspended(object),
    result: adapter.outcome(object, pods, NOW + 30, row)?.result,
    wanted: podsOf(adapter.demand(object)),
    grant: grant?.placement.map(({ node, pods: count }) => `${node} ${count}`).join(),
    jobid: grant?.jobid,
  };
}

describe.each(KINDS)('a %s', (name) => {
  const fresh = specimenOf(name);
  const { adapter } = fresh;
  const row = grantedRow(submissionOf(watched(fresh), adapter));
  const granted = released(fresh, row);
  const wanted = row.pods;
  const waiting = { isSuspended: true, result: undefined, wanted, grant: undefined, jobid: undefined };
  const held = { isSuspended: false, result: undefined, wanted, grant: `${NODE} ${wanted}` };

  test('asks for what it is granted, and carries no grant before', () => {
    expect(row.jobspec.attributes.user?.invalid).toBeUndefined();
    expect(wanted).toBe(name === 'Pod' ? 1 : PODS);
    expect(viewOf(fresh)).toEqual(waiting);
    expect(placementOf(row)).toEqual([{ node: NODE, pods: wanted }]);
  });

  test('carries exactly its grant from its release on, and has not ended', () => {
    const running = inPhase(granted, 'Running');
    for (const each of [granted, running]) {
      expect(viewOf(each, row)).toMatchObject(held);
      expect([undefined, row.jobid]).toContain(viewOf(each, row).jobid);
      const { object } = watched(each, row);
      expect(adapter.isReleasedOnto(object, row)).toBe(true);
      expect(adapter.isStaged(object)).toBe(false);
      // A leader that knows no row comes to the same.
      expect(viewOf(each)).toMatchObject(held);
    }
  });

  test('carries none once it is suspended, and the next one after that', () => {
    const { object } = watched(granted, row);
    const patch = adapter.suspendPatch(object);
    if (patch === undefined) return;
    expect(adapter.isSuspendable(object)).toBe(true);
    const suspended = { ...granted, object: applied(granted.object!, patch), pods: [] };
    expect(viewOf(suspended, row)).toEqual(waiting);
    const next = { ...row, jobid: row.jobid + 1, allocation: { ...row.allocation!, jobid: row.jobid + 1 } };
    const again = released(suspended, next);
    expect(viewOf(again, next)).toEqual({ ...held, jobid: next.jobid });
    expect(adapter.isReleasedOnto(watched(again, next).object, row)).toBe(name === 'Job');
  });

  test.each([
    ['Succeeded', true],
    ['Failed', false],
  ])('has %s when it says so, and still carries the grant under which it ran', (result, succeeded) => {
    const over = ended(granted, succeeded);
    const started = { ...row, startedAt: NOW + 5 };
    expect(viewOf(over, started)).toMatchObject({ ...held, result });
    expect(viewOf(over)).toMatchObject({ ...held, result });
    const { object, pods } = watched(over, started);
    expect(adapter.outcome(object, pods, NOW + 30, started)!.finishedAt).toBe(NOW + 20);
    // Also while it is being deleted, and after its pods.
    const deletionTimestamp = timeOf(NOW + 25);
    if (!adapter.podsExist) {
      const metadata = { ...over.object!.metadata, deletionTimestamp };
      const left = { ...over, object: { ...over.object!, metadata }, pods: [] };
      expect(viewOf(left, started)).toMatchObject({ ...held, result });
    }
  });

  test('is TimedOut once its walltime is over, and still carries its grant', () => {
    const started = { ...row, startedAt: NOW + 5, phase: 'Running' } as const;
    const late = NOW + 5 + row.walltime + 1;
    const { object } = watched(inPhase(granted, 'Running'), started);
    const { patch } = adapter.walltimeEnd(object, started, late);
    const marked =
      patch === undefined || isPod(granted)
        ? granted
        : { ...granted, object: applied(granted.object!, patch) };
    const over = adapter.podsExist
      ? inPhase(marked, 'Failed', 'DeadlineExceeded')
      : name === 'Job'
        ? timedOutJob(marked)
        : { ...marked, pods: [] };
    expect(viewOf(over, started)).toMatchObject({
      result: 'TimedOut',
      isSuspended: false,
      grant: held.grant,
    });
  });
});

function timedOutJob(specimen: Specimen): Specimen {
  const reason = 'DeadlineExceeded';
  const conditions = [{ type: 'Failed', status: 'True', reason, lastTransitionTime: timeOf(NOW + 70) }];
  return {
    ...specimen,
    object: { ...specimen.object!, status: { conditions } } as KubernetesObject,
    pods: [],
  };
}
