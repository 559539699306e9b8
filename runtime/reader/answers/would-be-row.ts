/**
 * The row that an object would get if it were applied now, on the way that a real one takes: the controller renders a
 * MiniCluster, admission judges, and the builder of submissions makes the row. What only the apiserver knows is left out:
 * LimitRanges, quotas of the namespace, and the admission of others.
 */
import {
  ADMITTED_LABEL,
  MINICLUSTER_GROUP,
  MINICLUSTER_VERSION,
  PRIORITY,
} from '../../../constructs/api/labels';
import { WORKLOAD_KIND_NAMES, WORKLOAD_KINDS, workloadKinds } from '../../../constructs/api/workload-kinds';
import {
  formatIssue,
  type MiniClusterSpec,
  renderMiniCluster,
  validateMiniCluster,
} from '../../../constructs/minicluster/index';
import { admit } from '../../admission/rules';
import type { Config } from '../../config';
import { FluxqError } from '../../errors';
import { patched } from '../../kubernetes/json-patch';
import { apiVersionOf, type KindObject, kindPodSets } from '../../kubernetes/kind-fields';
import type { KubernetesObject } from '../../kubernetes/types';
import { isWorkload } from '../../miniclusters/manifests';
import { newRow } from '../../queue/rows';
import type { WorkloadRow } from '../../queue/workload';
import { adapters } from '../../workloads/index';
import type { SubmissionBuilder } from '../../workloads/submission';
import type { Reader } from '../resource';
import { type CheckedSpec, invalid, isRecord, type Manifest } from './what-if-spec';

export interface WouldBe {
  readonly reader: Pick<Reader, 'username'>;
  readonly namespace: string;
  readonly builder: Pick<SubmissionBuilder, 'preview'>;
  readonly webhook: Pick<Config['webhook'], 'gitOpsUsers'>;
  readonly workloads: Config['workloads'];
  /** Unix seconds. */
  readonly now: number;
  /** Rows that exist. */
  readonly rows: Iterable<Pick<WorkloadRow, 'seq' | 'jobid'>>;
}

/** @throws FluxqError FLUXQ_WHATIF_INVALID, and what admission says */
export function wouldBeRow(spec: CheckedSpec, given: WouldBe): WorkloadRow {
  try {
    return rowOf(spec, given);
  } catch (error) {
    // The apiserver would have refused a list where there must be a text, or the other way round, before anybody reads it.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new FluxqError(
      'FLUXQ_WHATIF_INVALID',
      'has a field with a value of another type than its kind has',
      {
        field: 'spec.object',
        remedy: 'kubectl apply --dry-run=server says which',
        cause: error,
      },
    );
  }
}

function rowOf({ object, priority }: CheckedSpec, given: WouldBe): WorkloadRow {
  const { reader, namespace, builder, webhook, workloads, now, rows } = given;
  const workload = withPriority(workloadOf(object), priority);
  const { group, version, kind } = groupOf(workload);
  const { allowed, patch, message } = admit(
    {
      uid: '',
      operation: 'CREATE',
      kind: { group, version, kind },
      namespace,
      object: workload,
      userInfo: { username: reader.username },
    },
    { gitOpsUsers: webhook.gitOpsUsers, kinds: workloadKinds(workloads.kinds) },
  );
  if (!allowed) throw refused(message ?? '');
  const admitted = patched(workload, patch);
  if (admitted.metadata.labels?.[ADMITTED_LABEL] !== 'true')
    throw invalid(
      'spec.object',
      'is not taken by the queue, because something else starts it',
      kind,
      NOT_TAKEN,
    );
  const created = {
    ...admitted,
    metadata: {
      ...admitted.metadata,
      uid: UID,
      resourceVersion: '',
      creationTimestamp: new Date(now * 1000).toISOString(),
    },
  } as unknown as KubernetesObject;
  const { seq, jobid } = nextNumbers(rows);
  return { ...newRow(builder.preview(created, adapters.get(kind)!), seq), jobid };
}

/** Beyond those of all rows: a function takes fewer arguments than there may be rows. */
function nextNumbers(rows: WouldBe['rows']): Pick<WorkloadRow, 'seq' | 'jobid'> {
  let [seq, jobid] = [0, 0];
  for (const row of rows) {
    seq = Math.max(seq, row.seq);
    jobid = Math.max(jobid, row.jobid);
  }
  return { seq: seq + 1, jobid: Math.max(seq + 1, jobid) + 1 };
}

/** No object has it. */
const UID = 'what-if';

const NOT_TAKEN = 'leave out spec.managedBy, spec.nodeName and the queue of Kueue';

/** A Job, a Pod, or an object of a workload kind. */
function workloadOf(object: Manifest): Manifest {
  const { group, version, kind } = groupOf(object);
  const name = `${group === '' ? '' : `${group}/`}${version} ${kind}`;
  if (name === 'batch/v1 Job') {
    checkPods(isRecord(object.spec.template) ? object.spec.template.spec : undefined, 'spec.template.spec');
    return object;
  }
  if (name === 'v1 Pod') {
    checkPods(object.spec, 'spec');
    return object;
  }
  if (name === `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION} MiniCluster`) return jobOfMiniCluster(object);
  const held = WORKLOAD_KINDS.find((each) => `${apiVersionOf(each)} ${each.kind}` === name);
  if (held !== undefined) {
    for (const { template, field } of kindPodSets(held, object as unknown as KindObject))
      checkPods(template?.spec, field);
    return object;
  }
  throw invalid(
    'spec.object.kind',
    'is not a kind of workload that the queue plans',
    `${object.apiVersion} ${kind}`,
    KINDS,
  );
}

const KINDS = `send a Job of batch/v1, a Pod of v1, a MiniCluster, or a ${WORKLOAD_KIND_NAMES.join(', ')}`;

function checkPods(spec: unknown, field: string): void {
  const containers = isRecord(spec) ? spec.containers : undefined;
  if (Array.isArray(containers) && containers.every(isRecord)) return;
  throw invalid(
    `spec.object.${field}.containers`,
    'must be a list of containers',
    undefined,
    'give at least one',
  );
}

function jobOfMiniCluster({ metadata, spec }: Manifest): Manifest {
  const resource = { metadata, spec: spec as unknown as MiniClusterSpec };
  const [issue] = validateMiniCluster(resource);
  if (issue !== undefined)
    throw new FluxqError('FLUXQ_WHATIF_INVALID', formatIssue(issue), { field: 'spec.object' });
  const workload = renderMiniCluster(resource).find(isWorkload);
  if (workload?.kind === 'Job') return workload as unknown as Manifest;
  throw invalid(
    'spec.object.spec.workload',
    'makes a StatefulSet, whose pods are queued one by one',
    spec.workload,
    'ask for one of its pods, or for a MiniCluster with workload Job',
  );
}

function withPriority(object: Manifest, priority: number | undefined): Manifest {
  if (priority === undefined) return object;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [PRIORITY]: String(priority) };
  return { ...object, metadata: { ...metadata, annotations } };
}

function groupOf({ apiVersion, kind }: Manifest) {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version: version ?? '', kind };
}

/** The sentence of admission begins with its code. */
function refused(message: string): FluxqError {
  const [, code = 'FLUXQ_WHATIF_INVALID', problem = message] = /^(FLUXQ_\w+): (.*)$/s.exec(message) ?? [];
  return new FluxqError(code as `FLUXQ_${string}`, problem);
}
