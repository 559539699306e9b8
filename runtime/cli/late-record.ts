/** Why a workload that the queue admitted has no FluxJob: as far as its user can know it, from the read API, which reads the same database. */
import { hasCode } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import type { KubernetesObject } from '../kubernetes/types';
import { ageOf } from './durations';
import { historyAtOnce } from './history-at-once';

interface Late {
  readonly problem: string;
  readonly remedy: string;
}

/** Milliseconds after which a workload is in the queue, however many others come. */
const LATE_MS = 120_000;
const ADMINISTRATOR = 'ask your administrator to run kubectl fluxqueue doctor';

/** @param shown as its user names it: `job/train` */
export async function whyNoRecord(
  client: KubernetesClient,
  object: KubernetesObject,
  shown: string,
  now = Date.now(),
): Promise<Late> {
  const { name, namespace = '', creationTimestamp } = object.metadata;
  const known = await knownOf(client, namespace, name);
  if (known === 'database down')
    return {
      problem: `${shown} has no FluxJob yet, because the database of the queue does not answer: until then nothing new joins the queue, and nothing starts`,
      remedy: `nothing, if this passes: it joins the queue by itself. If it lasts: ${ADMINISTRATOR}`,
    };
  if (known === 'down')
    return {
      problem: `${shown} has no FluxJob yet, and the read API of the queue does not answer either: its database or its controller may be down`,
      remedy: `nothing, if this passes: it joins the queue by itself. If it lasts: ${ADMINISTRATOR}`,
    };
  const isLate = now - Date.parse(creationTimestamp ?? '') > LATE_MS;
  if (isLate && known !== 'queued')
    return {
      problem: `${shown} has no FluxJob, ${ageOf(creationTimestamp, now)} after its creation: the controller of the queue may be down`,
      remedy: `nothing, if this passes: it joins the queue by itself. If it lasts: ${ADMINISTRATOR}`,
    };
  return {
    problem: `${shown} has no FluxJob yet`,
    remedy: `it gets one within a minute if many others of namespace ${namespace} start and end meanwhile; kubectl fluxqueue history ${name} shows what happened to it`,
  };
}

type Known = 'queued' | 'not queued' | 'database down' | 'down' | 'unknown';

async function knownOf(client: KubernetesClient, namespace: string, name: string): Promise<Known> {
  try {
    const { entries } = await historyAtOnce(client, namespace, name);
    return entries.length > 0 ? 'queued' : 'not queued';
  } catch (error) {
    if (hasCode(error, 'FLUXQ_READ_API_DOWN'))
      return error.message.includes('FLUXQ_DATABASE_DOWN') ? 'database down' : 'down';
    // Without the read API, or the right to it, nothing is known.
    return 'unknown';
  }
}
