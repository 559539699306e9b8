/** What an attack is, as data: who sends which request, and what must come of it. */
import {
  CONTROLLER_SERVICE_ACCOUNT,
  READER_SERVICE_ACCOUNT,
  SCHEDULER_SERVICE_ACCOUNT,
  STACK_NAMESPACE,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../../constructs/api/labels';
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import type { AdmissionForm } from '../../constructs/fluxqueue/admission/form';
import type { KubeObject } from '../cluster/api';

/** `older`: by the webhook, on an apiserver that emulates Kubernetes 1.34, which has no MutatingAdmissionPolicy. */
export type Form = AdmissionForm | 'older';

/** The namespaces of the attacks: two users' ones in the queue, one under Pod Security `restricted`, one outside the queue. */
export const ALPHA = 'alpha';
export const BETA = 'beta';
export const STRICT = 'strict';
export const PLAIN = 'plain';

const account = (namespace: string, name: string) => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
const person = (user: string) => ({ user, groups: ['system:authenticated'] });

/** Each role acts with exactly the rights that RBAC gives its user; world.ts binds those of people. */
export const ROLES = {
  /** `edit` in alpha, strict and plain. */
  editor: person('mallory'),
  /** `edit` in beta. */
  neighbour: person('trudy'),
  /** A ServiceAccount with `edit` in alpha. */
  account: account(ALPHA, 'builder'),
  /** `edit` in alpha, and the subresources that no role of users has: resize, status, ephemeral containers. */
  colleague: person('grace'),
  /** May create and change Pods in alpha, nothing else. */
  'pod creator': person('eve'),
  /** May create MiniClusters in alpha, nothing else. */
  'cluster creator': person('carol'),
  'controller token': account(STACK_NAMESPACE, CONTROLLER_SERVICE_ACCOUNT),
  'webhook token': account(STACK_NAMESPACE, WEBHOOK_SERVICE_ACCOUNT),
  'scheduler token': account(STACK_NAMESPACE, SCHEDULER_SERVICE_ACCOUNT),
  'reader token': account(STACK_NAMESPACE, READER_SERVICE_ACCOUNT),
  /** Controllers of Kubernetes, which create what templates of users say: no template may make them a way around the queue. */
  'job controller': account('kube-system', 'job-controller'),
  'cronjob controller': account('kube-system', 'cronjob-controller'),
  /** A third party's operator in kube-system, with every right. */
  operator: account('kube-system', 'operator'),
} as const;
export type Role = keyof typeof ROLES;

type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Act {
  readonly verb: Verb;
  /** Without a query. */
  readonly path: string;
  /** @default - none */
  readonly query?: string;
  readonly body?: object;
  /** @default a merge patch */
  readonly type?:
    | 'application/json-patch+json'
    | 'application/apply-patch+yaml'
    | 'application/strategic-merge-patch+json';
}

/** What must come of an attack: one of the two, if both are given. */
interface Holds {
  /** Text of the refusal; of an attack that two policies refuse, of each: the apiserver names either. */
  readonly refused?: string | readonly string[];
  /** What is true of the answer although the request was accepted. */
  readonly contained?: keyof typeof CONTAINED;
}

export interface Attack {
  readonly name: string;
  readonly role: Role;
  readonly act: Act;
  /** Path of an object that the stack makes of the accepted request, which is really stored then; `contained` is about it. */
  readonly outcome?: string;
  readonly holds: Holds;
  /** The form of admission in which alone the attack is possible, also on an older Kubernetes. @default - all */
  readonly form?: 'webhook';
}

/** Attacks with a token of the stack, each of which is refused. */
export const refusedTo =
  (role: Role) =>
  (name: string, act: Act, refused: string | readonly string[]): Attack => ({
    name,
    role,
    act,
    holds: { refused },
  });

/** Deadline of the released Job. */
export const RUNNING_SECONDS = 3600;

interface Spec {
  readonly queue?: string;
  readonly parallelism?: number;
  readonly completions?: number;
  readonly podReplacementPolicy?: string;
  readonly template?: { readonly metadata?: KubeObject['metadata'] };
  readonly activeDeadlineSeconds?: number;
  readonly suspend?: boolean;
  readonly schedulingGates?: readonly { readonly name: string }[];
}

const isGated = ({ schedulingGates = [] }: Spec) => schedulingGates.some(({ name }) => name === 'fluxqueue');

/** Properties of an accepted object that make an attack worthless. */
export const CONTAINED = {
  'the Job is suspended': ({ spec }: KubeObject) => (spec as Spec).suspend === true,
  'the Job is admitted': ({ metadata }: KubeObject) => metadata.labels?.['fluxqueue/admitted'] === 'true',
  'the Pod is gated': ({ spec }: KubeObject) => isGated(spec as Spec),
  'the Pod is gated, in no group': ({ metadata, spec }: KubeObject) =>
    metadata.annotations?.['fluxqueue/group'] === undefined && isGated(spec as Spec),
  'the Pod is made for nobody': ({ metadata }: KubeObject) =>
    metadata.annotations?.['fluxqueue/owner'] === undefined,
  'no other queue has its pods': ({ spec }: KubeObject) =>
    (spec as Spec).template?.metadata?.annotations?.['fluxqueue/queued-by'] === undefined,
  'the grant is unchanged': ({ spec }: KubeObject) => {
    const { parallelism = 1, activeDeadlineSeconds = Number.POSITIVE_INFINITY } = spec as Spec;
    return parallelism === 1 && activeDeadlineSeconds <= RUNNING_SECONDS;
  },
  'one pod is granted': ({ spec }: KubeObject) => (spec as Spec).completions === 1,
  'a pod is replaced once it has ended': ({ spec }: KubeObject) =>
    (spec as Spec).podReplacementPolicy === 'Failed',
  'the user of its pods is mallory': ({ spec }: KubeObject) =>
    (spec as Spec).template?.metadata?.annotations?.['fluxqueue/user'] === 'mallory',
  "the queue is not the stack's": ({ spec }: KubeObject) => (spec as Spec).queue !== STACK_DEFAULTS.queueName,
  'the user is mallory': ({ metadata }: KubeObject) => metadata.annotations?.['fluxqueue/user'] === 'mallory',
  'the answer is about beta alone': (answer: KubeObject) =>
    answer.metadata.namespace === BETA && !/"(alpha|strict|plain)["/]/.test(JSON.stringify(answer)),
  'the user is not root': ({ metadata }: KubeObject) => metadata.annotations?.['fluxqueue/user'] !== 'root',
} as const;
