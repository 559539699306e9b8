/** What Git does to Jobs: applies manifests by kubectl, as a person whom no rule of admission exempts. */
import {
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  HOLD,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import type { Cluster } from '../cluster/cluster';
import type { Fields } from './corpus-objects';
import { job } from './corpus-objects';
import { ALICE, CONTROLLER, type Users } from './users';

/** The ways to apply a manifest; the first two also create it. */
export const APPLIERS = {
  'client-side apply': [],
  'server-side apply': ['--server-side', '--force-conflicts', '--field-manager=kustomize-controller'],
  'server-side apply by another manager with force': [
    '--server-side',
    '--force-conflicts',
    '--field-manager=argocd-controller',
  ],
  'server-side apply by another manager': ['--server-side', '--field-manager=somebody'],
} as const;
export type Applier = keyof typeof APPLIERS;

/** The output of kubectl where it was refused; otherwise empty. */
export async function applyAs(
  cluster: Cluster,
  namespace: string,
  applier: Applier,
  manifests: readonly KubeObject[],
): Promise<string> {
  const user = [`--as=${ALICE}`, '--as-group=testers', '-n', namespace];
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  const args = ['apply', ...user, ...APPLIERS[applier], '-f', '-'];
  const { code, stderr } = await cluster.kubectl(args, { stdin });
  return code === 0 ? '' : stderr;
}

export const named = (name: string, spec: Fields = {}, metadata: Fields = {}, template: Fields = {}) => {
  const { metadata: made, ...rest } = job(spec, metadata, template);
  const { generateName: _, ...others } = made;
  return { ...rest, metadata: { ...others, name } } as KubeObject;
};

/** Everything of a Job that its user or the queue writes, but the note of what a manifest claims in vain: it comes with the first update. */
export async function stateOf(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<Pick<Job, 'metadata' | 'spec'>> {
  const { metadata, spec } = await cluster.get<Job>(`/apis/batch/v1/namespaces/${namespace}/jobs/${name}`);
  const {
    managedFields: _m,
    resourceVersion: _r,
    ...rest
  } = metadata as Job['metadata'] & {
    managedFields?: unknown;
  };
  const {
    'kubectl.kubernetes.io/last-applied-configuration': _l,
    [IGNORED_ANNOTATION]: _i,
    ...annotations
  } = metadata.annotations ?? {};
  return { metadata: { ...rest, annotations } as Job['metadata'], spec };
}

/** As the runtime releases a Job. @param start seconds that are allowed for it */
export async function release(
  users: Users,
  namespace: string,
  object: KubeObject,
  seconds = 600,
  start = 3_600,
): Promise<void> {
  const annotations = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '7' };
  const own = (object as KubeObject & Pick<Job, 'spec'>).spec.activeDeadlineSeconds;
  const allowance = Math.max(0, Math.min(start, (own ?? Number.POSITIVE_INFINITY) - seconds));
  const text = allowance === 0 ? '' : `+${allowance}`;
  const { status, body } = await users.patch(CONTROLLER, namespace, object, {
    metadata: { annotations: { [DEADLINE_ANNOTATION]: `${seconds}${text}/${own ?? 'none'}` } },
    spec: {
      suspend: false,
      activeDeadlineSeconds: seconds + allowance,
      template: { metadata: { annotations } },
    },
  });
  if (status !== 200) throw new Error(body.message);
}

/** As a person who lifts a hold with `kubectl label`. */
export async function liftHold(users: Users, namespace: string, object: KubeObject): Promise<void> {
  const { status, body } = await users.patch(ALICE, namespace, object, {
    metadata: { labels: { [HOLD]: null } },
  });
  if (status !== 200) throw new Error(body.message);
}
