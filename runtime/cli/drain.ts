/** What of the queue is on a node, from FluxJobs and the pods there. Pure functions. */
import { ADMITTED_LABEL, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { nameOf } from '../fluxjobs/reading';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import { parseHostlist } from '../resources/hostlist';
import { toldEnd } from '../resources/told-end';
import type { Picture, PictureRow } from './picture';

const HEAD = ['NAMESPACE', 'WORKLOAD', 'PHASE', 'UNTIL'];

/**
 * @param pods those on the node: they tell of a workload whose FluxJob is late, or names not all of its nodes
 */
export function drainPicture(
  node: string,
  fluxJobs: readonly FluxJobObject[],
  pods: readonly Pod[],
): Picture {
  const live = pods.filter(isOfQueue).filter(isLive);
  const here = new Set(live.flatMap((pod) => [pod.metadata.uid, controllerOf(pod)?.uid ?? '']));
  const on = fluxJobs.filter(
    ({ spec, status = {} }) =>
      (status.phase === 'Ready' || status.phase === 'Running') &&
      (here.has(spec.workload.uid) || parseHostlist(status.nodes ?? '')?.includes(node) === true),
  );
  const known = new Set(on.map(({ spec }) => spec.workload.uid));
  const others = live.filter(
    (pod) => !known.has(pod.metadata.uid) && !known.has(controllerOf(pod)?.uid ?? ''),
  );
  const rows = [...on.map(fluxJobRow), ...others.map(podRow)];
  return {
    head: HEAD,
    rows: rows.sort((a, b) => a.state.localeCompare(b.state, 'en')),
    empty: `no workload of the queue is on node/${node}`,
    done: rows.length === 0,
  };
}

function fluxJobRow(fluxJob: FluxJobObject): PictureRow {
  const { namespace = '', uid } = fluxJob.metadata;
  const end = toldEnd(fluxJob);
  const phase = fluxJob.status?.phase ?? '';
  return row(uid, [
    namespace,
    nameOf(fluxJob),
    phase,
    end === undefined ? '' : new Date(end).toISOString().replace('.000Z', 'Z'),
  ]);
}

/** A pod whose workload has no FluxJob that says that it runs: it starts, or it terminates. */
function podRow({ metadata, status }: Pod): PictureRow {
  const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating';
  return row(metadata.uid, [metadata.namespace ?? '', `pod/${metadata.name}`, phase, '']);
}

function row(key: string, cells: readonly string[]): PictureRow {
  return {
    key,
    cells,
    state: cells.join('\n'),
    gone: cells.map((cell, i) => (HEAD[i] === 'PHASE' ? 'Gone' : HEAD[i] === 'UNTIL' ? '' : cell)),
  };
}

/** The queue notes its job id in the pods of a Job, and admission its label in those that it queues by themselves. */
function isOfQueue({ metadata: { labels, annotations } }: Pod): boolean {
  return labels?.[ADMITTED_LABEL] === 'true' || annotations?.[JOBID_ANNOTATION] !== undefined;
}

function isLive({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
