/** Why the cluster has no workload of a name: its namespace does not exist or has no queue, or the workload is gone. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { plain } from '../columns';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { fluxJobs } from '../kubernetes/custom-resources';
import { ApiError, isStatus, notInstalled } from '../kubernetes/errors';
import { namespaces } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { rfc3339 } from './durations';
import { historyAtOnce } from './history-at-once';
import { podsLeft } from './pods-left';

/**
 * @param text the workload, as its user wrote it
 * @param lister the command that lists what the text could name
 */
export async function unknownWorkload(
  client: KubernetesClient,
  namespace: string,
  text: string,
  problem: string,
  lister = 'kubectl fluxqueue queue --all',
): Promise<FluxqError> {
  await requireInstalled(client, namespace);
  const isQueued = await hasQueue(client, namespace);
  const name = text.split('/').at(-1)!;
  const end = await endOf(client, namespace, name, 'it was deleted, and ');
  const refuse = (what: string, remedy: string) => refusalOf(text, what, remedy);
  if (end !== undefined) return refuse(`is gone: ${end.said}`, end.remedy);
  if (isQueued === false)
    return refuse(
      `${problem}, and the namespace has not the label ${NAMESPACE_LABEL}: "true"`,
      'have an administrator set the label, and create the workload again',
    );
  return refuse(problem, `${lister} -n ${namespace} lists what there is`);
}

/** Of an object that a finalizer or its pods keep after its deletion: its FluxJob is gone, and nothing makes another one. */
export async function deletedWorkload(
  client: KubernetesClient,
  namespace: string,
  text: string,
  name: string,
): Promise<FluxqError> {
  const end = (await endOf(client, namespace, name, '')) ?? (await heldByPods(client, namespace, name, ''));
  return refusalOf(text, `is being deleted: ${end.said}`, end.remedy);
}

function refusalOf(text: string, problem: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_WORKLOAD_UNKNOWN', problem, { field: 'workload', value: text, remedy });
}

/** @throws FluxqError FLUXQ_NOT_INSTALLED if the cluster does not know FluxJobs */
export async function requireInstalled(client: KubernetesClient, namespace?: string): Promise<void> {
  try {
    await client.list(fluxJobs(namespace), { limit: 1, metadataOnly: true, retries: 0 });
  } catch (error) {
    if (isStatus(error, 404) && error.reason === 'Unknown') throw notInstalled(error);
    // Whoever may not read FluxJobs is told so where that matters.
    if (!(error instanceof ApiError)) throw error;
  }
}

/**
 * Whether the workloads of the namespace wait in the queue; undefined if its user may not know.
 * @throws FluxqError FLUXQ_NAMESPACE_UNKNOWN if there is no such namespace
 */
export async function hasQueue(client: KubernetesClient, namespace: string): Promise<boolean | undefined> {
  try {
    const { metadata } = await client.get<KubernetesObject>(namespaces(namespace), { retries: 0 });
    return metadata.labels?.[NAMESPACE_LABEL] === 'true';
  } catch (error) {
    if (!isStatus(error, 404)) return undefined;
    throw new FluxqError('FLUXQ_NAMESPACE_UNKNOWN', 'the cluster has no namespace of this name', {
      field: 'namespace',
      value: namespace,
      remedy: 'kubectl get namespaces lists them; the option -n names one',
    });
  }
}

/**
 * What a table without rows says.
 *
 * @param namespace undefined: all namespaces
 * @throws FluxqError FLUXQ_NAMESPACE_UNKNOWN if there is no such namespace
 */
export async function emptySentence(
  client: KubernetesClient,
  namespace: string | undefined,
): Promise<string> {
  if (namespace === undefined) return 'nothing runs or waits';
  const nothing = `nothing runs or waits in namespace ${namespace}`;
  const isQueued = await hasQueue(client, namespace);
  return isQueued === false
    ? `${nothing}, which has not the label ${NAMESPACE_LABEL}: "true"; -n names another one`
    : nothing;
}

/** Events after which a workload holds nothing. */
const WITHOUT_GRANT: ReadonlySet<string> = new Set(['Submitted', 'Updated', 'Waiting', 'Requeued']);

interface End {
  readonly said: string;
  readonly remedy: string;
}

/**
 * What the history says last of a workload that was deleted, if there is a history.
 *
 * @param before what is said before a sentence about its pods
 */
async function endOf(
  client: KubernetesClient,
  namespace: string,
  name: string,
  before: string,
): Promise<End | undefined> {
  const newest = await newestEntries(client, namespace, name);
  const last = newest.findLast(({ event }) => event === 'Finished');
  const remedy = historyRemedy(namespace, name);
  if (last !== undefined) return { said: `it ended at ${rfc3339(last.at)}: ${plain(last.message)}`, remedy };
  const now = newest.at(-1)?.event;
  if (now === undefined) return undefined;
  if (WITHOUT_GRANT.has(now)) return { said: `${before}its end is not recorded yet`, remedy };
  return heldByPods(client, namespace, name, before);
}

async function heldByPods(
  client: KubernetesClient,
  namespace: string,
  name: string,
  before: string,
): Promise<End> {
  const left = await podsLeft(client, namespace, name);
  const { named = '', lingering = '', remedy = historyRemedy(namespace, name) } = left ?? {};
  return {
    said: `${before}its pods have not all ended yet${named}: until then what it was granted is charged, and kubectl fluxqueue plan lists it${lingering}`,
    remedy,
  };
}

function historyRemedy(namespace: string, name: string): string {
  return `kubectl fluxqueue history ${name} -n ${namespace} shows its whole history`;
}

/** Of the newest workload of the name: an earlier one may have ended well. */
async function newestEntries(client: KubernetesClient, namespace: string, name: string) {
  try {
    const { entries } = await historyAtOnce(client, namespace, name);
    return entries.filter(({ uid }) => uid === entries.at(-1)?.uid);
  } catch {
    // Without the read API, or the right to it, nothing is known.
    return [];
  }
}
