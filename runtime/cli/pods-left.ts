/** The pods of a workload that is deleted and keeps what it was granted until they have ended, as far as its user may list pods. */
import { JOB_NAME_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { pods } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { lingeringAdvice, lingeringSentence } from '../workloads/lingering';
import { isOrphaned } from '../workloads/pod';
import { podFacts } from '../workloads/pod-facts';

export interface PodsLeft {
  /** What is said of them, in brackets and at the end of the sentence. */
  readonly named: string;
  readonly lingering: string;
  /** What ends one that does not end, or all that nothing else ends. @default - all of them may end in time */
  readonly remedy?: string;
}

/** A line names so many pods. */
const MOST_NAMED = 3;

/** @param name of the workload; undefined: no pod of it is known */
export async function podsLeft(
  client: KubernetesClient,
  namespace: string,
  name: string,
  now = Date.now(),
): Promise<PodsLeft | undefined> {
  const all = await listed(client, namespace);
  const own = all.filter(
    (pod) =>
      podFacts.usedNode(pod) !== undefined &&
      [podFacts.owner(pod), podFacts.workloadKey(pod)].some((workload) => workload?.name === name),
  );
  if (own.length === 0) return undefined;
  const sentence = lingeringSentence(own, now / 1000);
  if (sentence !== undefined)
    return { named: '', lingering: `; ${sentence}`, remedy: lingeringAdvice(sentence, namespace)! };
  const names = own.slice(0, MOST_NAMED).map(({ metadata, spec }) => `${metadata.name} on ${spec.nodeName}`);
  const more = own.length > MOST_NAMED ? ` and ${own.length - MOST_NAMED} more` : '';
  const remedy = own.some(isLeftAlone) ? deleteCommand(namespace, name) : undefined;
  return { named: ` (${names.join(', ')}${more})`, lingering: '', ...(remedy && { remedy }) };
}

/** Whether nothing ends it before its walltime: its Job was deleted without its pods. */
function isLeftAlone(pod: Pod): boolean {
  return isOrphaned(pod) && pod.metadata.deletionTimestamp === undefined;
}

function deleteCommand(namespace: string, job: string): string {
  return `kubectl delete pods -n ${namespace} -l ${JOB_NAME_LABEL}=${job} ends them`;
}

async function listed(client: KubernetesClient, namespace: string): Promise<readonly Pod[]> {
  try {
    return (await client.list<Pod>(pods(namespace))).items;
  } catch (error) {
    // Whoever may not list pods is told the rest.
    if (error instanceof ApiError) return [];
    throw error;
  }
}
