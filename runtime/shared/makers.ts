/**
 * Objects for which controllers make objects of workload kinds, such as a TrainJob for which there is a JobSet: the workload counts
 * for the person who created that one. Admission notes the person there, and sees only the account of the controller here.
 */
import { makerUidOf } from '../kubernetes/kind-fields';
import type { KubernetesObject } from '../kubernetes/types';
import type { Informers } from './informers';

export type WatchedMakers = Pick<Informers, 'makers'>;

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
