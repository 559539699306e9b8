/**
 * The label of a MiniCluster whose objects are being written. The apiserver compares them with the specs of labelled
 * MiniClusters only: with all of a namespace, each write would take longer the more of them there are. Before Kubernetes 1.36
 * only one MiniCluster of a namespace can have the label (constructs/fluxqueue/admission/minicluster-creation.ts), so they
 * take turns.
 */
import { APPLYING_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { applyPatch } from '../kubernetes/writes';
import { NOT_SEEN_YET } from './apply';
import { type MiniCluster, miniClusters } from './resource';
import type { Rejection } from './status';

export interface ApplyingState {
  /** Whether this process has set the label; the watch may lag behind. */
  isApplying?: boolean;
  /** Since when, in Unix seconds, the apiserver refuses the objects of this generation. */
  refused?: { readonly generation: number; readonly since: number };
}

/** The apiserver compares in a cache. What differs for longer than this is really different. */
const LAG_S = 10;

/** A turn takes at least as long: a write, the label, and the write again. */
const TURN_MS = 30;

/** It compares with every labelled MiniCluster of the namespace, and another one has the label. */
const ANOTHERS_TURN = 'FLUXQ_MINICLUSTER_TURN';
/** Refusals of a policy that wants exactly one labelled MiniCluster. */
const NEEDS_TURN = /FLUXQ_MINICLUSTER_TURN|no params found/;

interface ApplyingOptions {
  readonly client: KubernetesClient;
  /** The MiniClusters of a namespace, as the watch last delivered them. */
  readonly clustersIn: (namespace: string) => readonly MiniCluster[];
  /** Unix seconds. */
  readonly now: () => number;
}

export class Applying {
  /** The uid of the cluster whose turn it is, by namespace. */
  private readonly turns = new Map<string, string>();
  /** The uids of the clusters that wait for their turn, in their order, by namespace. */
  private readonly lines = new Map<string, Set<string>>();

  constructor(private readonly options: ApplyingOptions) {}

  /**
   * Sets the label after the apiserver refused an object because of it.
   * @returns whether to try again
   */
  async begin(cluster: MiniCluster, state: ApplyingState, refusal: string): Promise<boolean> {
    const { client, clustersIn, now } = this.options;
    const { namespace = '', generation = 0 } = cluster.metadata;
    const inTurn = NEEDS_TURN.test(refusal);
    if (inTurn && !this.takesTurn(cluster)) return true;
    if (refusal.includes(ANOTHERS_TURN)) await clearOthers(client, cluster, clustersIn(namespace));
    if (state.refused?.generation !== generation) state.refused = { generation, since: now() };
    const isLate = now() - state.refused.since >= LAG_S;
    if (isLate && inTurn) {
      // Others of its namespace do not wait until it is tried once more.
      await this.end(cluster, state);
      return false;
    }
    state.isApplying = true;
    // Its user may have removed it meanwhile, with a manifest that does not have it.
    if (cluster.metadata.labels?.[APPLYING_LABEL] === undefined) await setLabel(client, cluster, 'true');
    return !isLate;
  }

  /** Removes the label, also that of an earlier process. */
  async end(cluster: MiniCluster, state: ApplyingState): Promise<void> {
    const isLabelled = state.isApplying ?? cluster.metadata.labels?.[APPLYING_LABEL] !== undefined;
    if (!isLabelled) return;
    await setLabel(this.options.client, cluster, null);
    state.isApplying = false;
    delete state.refused;
  }

  endTurn(namespace = '', uid = ''): void {
    if (this.turns.get(namespace) === uid) this.turns.delete(namespace);
    this.leaveLine(namespace, uid);
  }

  /**
   * Milliseconds until a refused write is tried again. All that wait and try at once would cost the square of their number: each
   * waits for as many turns as are before its own.
   */
  retryAfterMs({ metadata: { namespace = '', uid = '' } }: MiniCluster): number {
    const before = [...(this.lines.get(namespace) ?? [])].indexOf(uid);
    return TURN_MS * Math.max(1, before + 1);
  }

  /** The refusal that a write would meet now; undefined if it has to be tried. */
  refusalFor({ metadata: { namespace = '', uid } }: MiniCluster): Rejection | undefined {
    const holder = this.turns.get(namespace) ?? uid;
    return holder === uid ? undefined : { reason: NOT_SEEN_YET, message: ANOTHERS_TURN };
  }

  private takesTurn({ metadata: { namespace = '', uid = '' } }: MiniCluster): boolean {
    const holder = this.turns.get(namespace) ?? uid;
    this.turns.set(namespace, holder);
    if (holder === uid) this.leaveLine(namespace, uid);
    else this.lines.set(namespace, (this.lines.get(namespace) ?? new Set()).add(uid));
    return holder === uid;
  }

  private leaveLine(namespace: string, uid: string): void {
    const line = this.lines.get(namespace);
    line?.delete(uid);
    if (line?.size === 0) this.lines.delete(namespace);
  }
}

/** A cluster that ended its turn without a write, or in an earlier process, may still have the label. */
async function clearOthers(
  client: KubernetesClient,
  { metadata: { uid } }: MiniCluster,
  clusters: readonly MiniCluster[],
): Promise<void> {
  for (const other of clusters)
    if (other.metadata.uid !== uid && other.metadata.labels?.[APPLYING_LABEL] !== undefined)
      await setLabel(client, other, null);
}

async function setLabel(client: KubernetesClient, cluster: MiniCluster, value: 'true' | null): Promise<void> {
  const { namespace, name, uid } = cluster.metadata;
  const body = { metadata: { uid, labels: { [APPLYING_LABEL]: value } } };
  await applyPatch(client, miniClusters(namespace, name), { type: 'merge', body });
}
