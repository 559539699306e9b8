/**
 * The label of a MiniCluster whose objects are being written. The apiserver compares them with the specs of labelled
 * MiniClusters only: with all of a namespace, each write would take longer the more of them there are.
 */
import { APPLYING_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { applyPatch } from '../kubernetes/writes';
import { type MiniCluster, miniClusters } from './resource';

export interface ApplyingState {
  /** Whether this process has set the label; the watch may lag behind. */
  isApplying?: boolean;
  /** Since when, in Unix seconds, the apiserver refuses the objects of this generation. */
  refused?: { readonly generation: number; readonly since: number };
}

/** The apiserver compares in a cache. What differs for longer than this is really different. */
const LAG_S = 10;

/**
 * Sets the label after the apiserver refused an object because of it.
 * @returns whether to try again
 */
export async function beginApplying(
  client: KubernetesClient,
  cluster: MiniCluster,
  state: ApplyingState,
  now: number,
): Promise<boolean> {
  const { generation = 0 } = cluster.metadata;
  if (state.refused?.generation !== generation) state.refused = { generation, since: now };
  state.isApplying = true;
  // Its user may have removed it meanwhile, with a manifest that does not have it.
  if (cluster.metadata.labels?.[APPLYING_LABEL] === undefined) await setLabel(client, cluster, 'true');
  return now - state.refused.since < LAG_S;
}

/** Removes the label, also that of an earlier process. */
export async function endApplying(
  client: KubernetesClient,
  cluster: MiniCluster,
  state: ApplyingState,
): Promise<void> {
  const isLabelled = state.isApplying ?? cluster.metadata.labels?.[APPLYING_LABEL] !== undefined;
  if (!isLabelled) return;
  await setLabel(client, cluster, null);
  state.isApplying = false;
  delete state.refused;
}

async function setLabel(client: KubernetesClient, cluster: MiniCluster, value: 'true' | null): Promise<void> {
  const { namespace, name, uid } = cluster.metadata;
  const body = { metadata: { uid, labels: { [APPLYING_LABEL]: value } } };
  await applyPatch(client, miniClusters(namespace, name), { type: 'merge', body });
}
