/**
 * A pod that was asked to end may run for its whole grace period. By default the Job controller makes its replacement at
 * once, which admission pins to the same unit: whoever deletes pods with long grace periods would run several on one unit.
 * So a released Job replaces only pods that have ended (`podReplacementPolicy: Failed`). A kubelet that is dead never
 * confirms an end: while a pod waits for such a kubelet, the Job replaces pods as by default.
 *
 * The queue writes this with the release, and here whenever it is otherwise: the guard of an earlier version refuses it,
 * as long as that version's objects are applied.
 */
import { FIELD_MANAGER } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound, isStatus } from '../kubernetes/errors';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import type { WatchedJob } from '../shared/job-projection';
import {
  type ActiveWorkload,
  isTerminal,
  type JsonPatchOperation,
  type PodReplacementPolicy,
  type WorkloadAdapter,
} from './adapter';
import { isLive, type NodeView } from './live-pods';
import { belongsToGrant } from './pod';

export const REPLACEMENT_FIELD = '/spec/podReplacementPolicy';
/** Milliseconds until a policy that was refused is written again. */
const REFUSED_RETRY_MS = 60_000;

/** The operation of a release; none if the Job has the policy, which is its user's own then. */
export function replacesEnded({ spec }: WatchedJob): readonly JsonPatchOperation[] {
  return spec.podReplacementPolicy === 'Failed'
    ? []
    : [{ op: 'add', path: REPLACEMENT_FIELD, value: 'Failed' }];
}

/** What a released Job should have now. */
export function wantedPolicy(pods: readonly Pod[], nodes: NodeView): PodReplacementPolicy {
  const ending = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod));
  // Kubernetes itself ends a pod without a node. A pod that ends on a live node would get a second one beside it.
  const isLost = (pod: Pod) => pod.spec.nodeName !== undefined && !isLive(pod, nodes);
  return ending.some(isLost) && !ending.some((pod) => isLive(pod, nodes)) ? 'TerminatingOrFailed' : 'Failed';
}

/** Told of a pod on a dead node whose replacement nobody can bring about: `advice` looks for it. */
export const REPLACED_LATER = 'is replaced only once it has ended';

/**
 * Whether its user, or Kubernetes because of a `podFailurePolicy`, wants each pod to end before its replacement: on other nodes no
 * pod would come in its place either.
 */
export function replacesOnlyEnded(
  { replacementPolicy, isReplacementNoted }: WorkloadAdapter,
  object: KubernetesObject,
  row: WorkloadRow,
): boolean {
  return replacementPolicy(object, row) === 'Failed' && !isReplacementNoted(object);
}

/** What such a workload says of its pods on dead nodes. @param missing pods of its grant that do not exist */
export function replacementWait(
  { object, adapter, row, pods }: ActiveWorkload,
  missing: number,
  nodes: NodeView,
): GrantWait | undefined {
  if (!replacesOnlyEnded(adapter, object, row)) return undefined;
  const isStuck = (pod: Pod) => {
    const { nodeName } = pod.spec;
    if (pod.metadata.deletionTimestamp === undefined || isTerminal(pod)) return false;
    return nodeName !== undefined && nodes.exists(nodeName) && !nodes.isReady(nodeName);
  };
  const [first, ...more] = pods.filter(
    (pod) => isStuck(pod) && (missing > 0 || belongsToGrant(pod, row.jobid)),
  );
  if (first === undefined) return undefined;
  const pod = first.metadata.name;
  const others = more.length === 0 ? '' : ` like ${more.length} more`;
  const reason: GrantReason = 'NodeNotReady';
  const message = `node ${first.spec.nodeName} is not ready, and pod ${pod} on it${others} ${REPLACED_LATER} (podReplacementPolicy: Failed)`;
  return { reason, message, pod };
}

export interface ReplacementPolicyOptions {
  readonly client: KubernetesClient;
  readonly nodes: NodeView;
  /** Whether its namespace has left: admission keeps no pod of it to its node any more. */
  readonly hasLeft: boolean;
  readonly logger: DecisionLogger;
}

/** Gives a released Job the policy that its pods and their nodes ask for. Its user's own `Failed` stays. */
export async function keepReplacementPolicy(
  { client, nodes, hasLeft, logger }: ReplacementPolicyOptions,
  { object, adapter, row, pods }: ActiveWorkload,
): Promise<ReconcileResult> {
  const policy = adapter.replacementPolicy(object, row);
  if (policy === undefined) return undefined;
  const wanted = hasLeft ? 'TerminatingOrFailed' : wantedPolicy(pods, nodes);
  if (policy === wanted) return undefined;
  const path = adapter.path(row.namespace, row.name);
  const isOwn = policy === 'Failed' && !adapter.isReplacementNoted(object) && (await isOfUser(client, path));
  if (isOwn) return undefined;
  const body = [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'add', path: REPLACEMENT_FIELD, value: wanted },
  ];
  logDecision(logger, row, 'which of its pods are replaced', { policy: wanted });
  try {
    await applyPatch(client, path, { type: 'json', body });
    return undefined;
  } catch (error) {
    if (!isStatus(error, 403) && !isStatus(error, 422)) throw error;
    return { after: REFUSED_RETRY_MS };
  }
}

interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> };
}

/**
 * Whoever wrote a value first manages the field. It is asked only when a node is lost, and for a Job that an earlier version
 * released: a manifest that is applied again takes the field over.
 */
async function isOfUser(client: Pick<KubernetesClient, 'get'>, path: string): Promise<boolean> {
  const found = await ifFound(client.get<KubernetesObject>(path, { metadataOnly: true }));
  const { managedFields = [] } = (found?.metadata ?? {}) as {
    readonly managedFields?: readonly ManagedFields[];
  };
  return managedFields.some(
    ({ manager, fieldsV1 }) =>
      manager !== FIELD_MANAGER && fieldsV1?.['f:spec']?.['f:podReplacementPolicy'] !== undefined,
  );
}
