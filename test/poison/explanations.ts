/** Whether the stack says of each accepted object what became of it. */

import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { isStatus } from '../../runtime/kubernetes/errors';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { Accepted } from './submit';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}
type WithConditions = KubernetesObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** A reason that says nothing but that nobody has looked yet. */
const UNDECIDED: ReadonlySet<string | undefined> = new Set([undefined, '', 'Submitted']);

const ENDS: ReadonlySet<string> = new Set(['Complete', 'Failed']);

/** @returns what is not explained, one line for each object */
export async function unexplained(
  client: KubernetesClient,
  accepted: readonly Accepted[],
): Promise<readonly string[]> {
  const namespaces = [...new Set(accepted.map(({ namespace }) => namespace))];
  const lists = await Promise.all(
    namespaces.map(async (namespace) => (await client.list<FluxJobObject>(fluxJobs(namespace))).items),
  );
  const byWorkload = new Map(lists.flat().map((fluxJob) => [fluxJob.spec.workload.uid, fluxJob]));
  const problems: string[] = [];
  // One after the other: reading a hundred objects of a megabyte at once would itself be what delays the canaries.
  for (const object of accepted) {
    const problem = await problemOf(client, object, byWorkload.get(object.uid));
    if (problem !== undefined) problems.push(`${object.kind} ${object.namespace}/${object.name}: ${problem}`);
  }
  return problems;
}

async function problemOf(
  client: KubernetesClient,
  { kind, path, isQueued }: Accepted,
  fluxJob: FluxJobObject | undefined,
): Promise<string | undefined> {
  if (kind === 'FluxJob') return undefined;
  if (fluxJob !== undefined) return problemOfFluxJob(fluxJob);
  const object = await find(client, path);
  // A Job that has ended may be deleted at once, and its FluxJob with it.
  if (object === undefined) return undefined;
  const { conditions = [] } = object.status ?? {};
  // One without work is complete at once, perhaps before the queue has read it.
  const isEnded = conditions.some(({ type, status }) => ENDS.has(type) && status === 'True');
  if (kind === 'Job' || kind === 'Pod') return isQueued && !isEnded ? 'has no FluxJob' : undefined;
  const said = conditions.some(({ reason, message = '' }) => !UNDECIDED.has(reason) && message !== '');
  return said ? undefined : `says nothing: ${JSON.stringify(conditions)}`;
}

function problemOfFluxJob({ status }: FluxJobObject): string | undefined {
  if (status?.phase === undefined) return 'its FluxJob has no phase';
  if (status.phase === 'Running' || status.phase === 'Finished') return undefined;
  const { reason, message = '' } = status.conditions?.find(({ type }) => type === 'Scheduled') ?? {};
  return UNDECIDED.has(reason) || message.length < 10
    ? `is ${status.phase} (${reason}: ${message})`
    : undefined;
}

async function find(client: KubernetesClient, path: string): Promise<WithConditions | undefined> {
  try {
    return await client.get<WithConditions>(path);
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
