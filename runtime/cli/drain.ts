/** What of the queue is on a node, from FluxJobs and the pods there. Pure functions. */
import { ADMITTED_LABEL, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { nameOf } from '../fluxjobs/reading';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import { parseHostlist } from '../resources/hostlist';
import { toldEnd } from '../resources/told-end';
import { listNames } from '../workloads/events';
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
  const here = new Set(live.map(grantOf));
  const on = fluxJobs.filter(
    (fluxJob) =>
      (fluxJob.status?.phase === 'Ready' || fluxJob.status?.phase === 'Running') &&
      (grantsOf(fluxJob).some((grant) => here.has(grant)) ||
        parseHostlist(fluxJob.status.nodes ?? '')?.includes(node) === true),
  );
  const known = new Set(on.flatMap(grantsOf));
  const others = live.filter((pod) => !known.has(grantOf(pod)));
  const rows = [...on.map(fluxJobRow), ...others.map(podRow)];
  return {
    head: HEAD,
    rows: rows.sort((a, b) => a.state.localeCompare(b.state, 'en')),
    empty: `no workload of the queue is on node/${node}`,
    done: rows.length === 0,
  };
}

/**
 * kubectl refuses to drain a node as long as a pod on it has an emptyDir or no controller, unless it is told that these end
 * for good.
 * @param isEmpty whether nothing of the queue is on the node
 */
export function nextSentence(node: string, pods: readonly Pod[], isEmpty: boolean): string {
  const lone = pods.filter((pod) => isLive(pod) && controllerOf(pod) === undefined);
  const names = listNames(lone.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  const gone = lone.length === 0 ? '' : `for good ${names}, which no controller makes again`;
  const drain = `kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data${lone.length === 0 ? '' : ' --force'}`;
  if (isEmpty)
    return `next: ${drain} for what is not of the queue${gone && `, and ends ${gone}`}; after the work: kubectl uncordon ${node}`;
  return `next: kubectl fluxqueue drain ${node} --after-jobs waits for them; ${drain} ends them now${gone && `, and ${gone}`}`;
}

/** What made a pod may be far below its workload, as the Jobs of a JobSet are. A lone pod is its own workload. */
function grantOf({ metadata: { uid, annotations } }: Pod): string {
  return annotations?.[JOBID_ANNOTATION] ?? uid;
}

/** As what pods may name their workload. */
function grantsOf({ spec, status = {} }: FluxJobObject): readonly string[] {
  return [spec.workload.uid, String(status.jobID)];
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
