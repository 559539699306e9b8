/**
 * Objects for which controllers make objects of workload kinds, such as a TrainJob for which there is a JobSet: the workload counts
 * for the person who created that one. Admission notes the person there, and sees only the account of the controller here.
 */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import type { KubernetesObject } from '../kubernetes/types';
import type { Informers } from './informers';

export type WatchedMakers = Pick<Informers, 'makers'>;

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/**
 * The object for which the workload was made; `awaited` while the watch has not shown it. Undefined for a workload that its own
 * user made: who names somebody's TrainJob as the owner of a JobSet gets no other user by that.
 * @param kind of the workload
 */
export function makerOf(
  { makers }: WatchedMakers,
  kind: string,
  { metadata }: KubernetesObject,
): KubernetesObject | 'awaited' | undefined {
  const uid = makerUidOf(kind, metadata);
  if (uid === undefined) return undefined;
  const maker = makers.get(kind)?.get(`${metadata.namespace}/${metadata.name}`);
  return maker?.metadata.uid === uid ? maker : 'awaited';
}

/** A controller makes it under the name of its own object, by an account of another namespace. */
function makerUidOf(kind: string, metadata: KubernetesObject['metadata']): string | undefined {
  const { maker } = WORKLOAD_KINDS.find((each) => each.kind === kind) ?? {};
  if (maker === undefined || !isOfOtherNamespace(metadata)) return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const isMaker =
    owner?.kind === maker.kind &&
    owner.apiVersion.startsWith(`${maker.group}/`) &&
    owner.name === metadata.name;
  return isMaker ? owner.uid : undefined;
}

function isOfOtherNamespace({ annotations, namespace }: KubernetesObject['metadata']): boolean {
  const creator = annotations?.[USER_ANNOTATION] ?? '';
  return creator.startsWith(SERVICE_ACCOUNT) && !creator.startsWith(`${SERVICE_ACCOUNT}${namespace}:`);
}
