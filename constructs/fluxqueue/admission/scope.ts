/** Namespaces and objects to which admission applies: one definition for policies, guards and webhook. */
import type { k8s } from 'cdk8s-plus-28';
import { JUDGED_OWNERS } from '../../api/creators';
import { GITOPS_USERS } from '../../api/gitops-users';
import { JOB_CONTROLLER_USERS } from '../../api/job-controller';
import {
  ASSIGNMENT_ANNOTATION,
  CONTROLLER_SERVICE_ACCOUNT,
  KUEUE_QUEUE_LABEL,
  NAMESPACE_LABEL,
  QUEUED_BY_ANNOTATION,
  STACK_NAMESPACE,
} from '../../api/labels';
import { type FieldPath, workloadKinds } from '../../api/workload-kinds';
import { objectMetadata, Wave } from '../../metadata';

export interface AdmissionScopeProps {
  /**
   * Prefix of the names of cluster-scoped objects.
   * @default 'fluxqueue'
   */
  readonly name?: string;
  /**
   * Namespace of the stack, which is always excluded.
   * @default 'fluxqueue-system'
   */
  readonly stackNamespace?: string;
  /**
   * Labels that enable a namespace.
   * @default { 'fluxqueue/enabled': 'true' }
   */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /**
   * Enables every namespace that is not excluded and has no label `fluxqueue/enabled: "false"`; namespaceLabels is not used.
   * @default false
   */
  readonly clusterWide?: boolean;
  /**
   * Excluded namespaces in addition to kube-system and the stack's own.
   * @default - none; with clusterWide: kube-public and kube-node-lease
   */
  readonly excludedNamespaces?: readonly string[];
  /**
   * Kinds of constructs/api/workload-kinds.ts that admission holds by a field of their own; of others it reaches the Jobs and Pods
   * that are made for them.
   * @default - all of them
   */
  readonly workloadKinds?: readonly string[] | undefined;
}

export interface ControllerUserProps {
  /**
   * User names of the runtime, which can release, pin and ungate.
   * @default - the ServiceAccount fluxqueue-controller of the stack's namespace
   */
  readonly controllerUsers?: readonly string[];
  /**
   * User names of engines of GitOps: what they create counts for its namespace.
   * @default - the usual accounts of Flux CD and Argo CD
   */
  readonly gitOpsUsers?: readonly string[];
}

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly string[];
}

/** A named CEL expression of an admission policy; the apiserver evaluates it at its first use. */
export interface Variable {
  readonly name: string;
  readonly expression: string;
}

/** A Kubernetes matchCondition. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * Conditions that must all hold, as one. The apiserver evaluates each matchCondition of a policy, also when another one is
 * false already, and most requests fail the first: so the first should be the cheapest that excludes most.
 */
export function allOf(conditions: readonly MatchCondition[]): readonly MatchCondition[] {
  if (conditions.length < 2) return conditions;
  return [
    { name: 'applies', expression: conditions.map(({ expression }) => `(${expression})`).join(' && ') },
  ];
}

/** Kubernetes sets this label on every namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** Namespaces to which admission never applies, whatever labels they have. */
export function excludedNamespaces(props: AdmissionScopeProps): string[] {
  const more =
    props.excludedNamespaces ?? (props.clusterWide === true ? ['kube-public', 'kube-node-lease'] : []);
  return [...new Set(['kube-system', props.stackNamespace ?? STACK_NAMESPACE, ...more])];
}

export function namespaceSelector(props: AdmissionScopeProps): { matchExpressions: Requirement[] } {
  const optedIn: Requirement[] =
    props.clusterWide === true
      ? [{ key: NAMESPACE_LABEL, operator: 'NotIn', values: ['false'] }]
      : Object.entries(namespaceLabels(props)).map(([key, value]) => ({
          key,
          operator: 'In',
          values: [value],
        }));
  return { matchExpressions: [...optedIn, ...notExcluded(props).matchExpressions] };
}

/** Selects every namespace that is not excluded: names are reserved also before a namespace is enabled. */
export function notExcluded(props: AdmissionScopeProps): { matchExpressions: Requirement[] } {
  return {
    matchExpressions: [{ key: NAMESPACE_NAME, operator: 'NotIn', values: excludedNamespaces(props) }],
  };
}

/** Selects every namespace but that of the stack. */
export function outsideStack({ stackNamespace = STACK_NAMESPACE }: AdmissionScopeProps): {
  matchExpressions: Requirement[];
} {
  return { matchExpressions: [{ key: NAMESPACE_NAME, operator: 'NotIn', values: [stackNamespace] }] };
}

/** CEL over `namespaceObject`: whether the namespace is enabled. */
export function namespaceIsEnabled(props: AdmissionScopeProps): string {
  const labels = 'namespaceObject.metadata.?labels.orValue({})';
  if (props.clusterWide === true) return `${labels}[?${cel(NAMESPACE_LABEL)}].orValue("") != "false"`;
  return Object.entries(namespaceLabels(props))
    .map(([key, value]) => `${labels}[?${cel(key)}].orValue("") == ${cel(value)}`)
    .join(' && ');
}

/** CEL: whether the request is about a namespace of the queue, where a policy sees others too. */
export function isInQueue(props: AdmissionScopeProps): string {
  return `(!(request.namespace in ${celList(excludedNamespaces(props))}) && ${namespaceIsEnabled(props)})`;
}

/** User name of a ServiceAccount of the stack. */
export function serviceAccountUser({ stackNamespace = STACK_NAMESPACE }: AdmissionScopeProps, name: string) {
  return `system:serviceaccount:${stackNamespace}:${name}`;
}

export function controllerUsers(props: AdmissionScopeProps & ControllerUserProps): readonly string[] {
  return props.controllerUsers ?? [serviceAccountUser(props, CONTROLLER_SERVICE_ACCOUNT)];
}

/** CEL: whether a controller of Kubernetes sends the request. The controller manager gives each its own account, or none. */
export const BY_KUBERNETES =
  'request.userInfo.username.startsWith("system:serviceaccount:kube-system:") || ' +
  'request.userInfo.username == "system:kube-controller-manager"';

/** CEL: whether an engine of GitOps sends the request; the account of one can be in kube-system. */
export function byGitOps({ gitOpsUsers = GITOPS_USERS }: ControllerUserProps): string {
  return `request.userInfo.username in ${celList(gitOpsUsers)}`;
}

/** CEL: whether an account of kube-system sends the request that is no engine of GitOps. */
function byKubernetes(props: ControllerUserProps): string {
  return `((${BY_KUBERNETES}) && !(${byGitOps(props)}))`;
}

/** CEL: the owners of the object that control it; at most one. */
export const CONTROLLERS =
  'object.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false))';
const isJudged = `(owner.apiVersion + "/" + owner.kind) in ${celList(JUDGED_OWNERS)}`;

/**
 * CEL: whether the settings and the user of the object are those of an owner that admission judged. That a controller sends
 * them says nothing: it copies what the user of its owner wrote.
 */
export function isOfJudgedOwner(props: AdmissionScopeProps & ControllerUserProps): string {
  return (
    `(request.userInfo.username in ${celList(controllerUsers(props))} || ` +
    `(${byKubernetes(props)} && ${CONTROLLERS}.exists(owner, ${isJudged})))`
  );
}

/**
 * CEL: whether an operator, which is a ServiceAccount of another namespace, sends the request for an object that it makes of
 * another one. Under an account of their own namespace users run pods of theirs, so its rights are theirs.
 */
const byOperator = (props: ControllerUserProps) =>
  `(request.userInfo.username.startsWith("system:serviceaccount:") && !(${BY_KUBERNETES}) && !(${byGitOps(props)}) && ` +
  `!request.userInfo.username.startsWith("system:serviceaccount:" + request.namespace + ":") && ${CONTROLLERS}.size() > 0)`;

/**
 * CEL: whether an account acts for an owner that admission has not judged: it makes what the user of that owner wrote, so its own
 * rights say nothing.
 */
export function isOfUnjudgedOwner(props: ControllerUserProps): string {
  return `((${byKubernetes(props)} && ${CONTROLLERS}.exists(owner, !(${isJudged}))) || ${byOperator(props)})`;
}

/** CEL: the owners of the object that control it and are of a kind that admission holds; at most one. */
const ownersOfKinds = (props: AdmissionScopeProps) => {
  const kinds = workloadKinds(props.workloadKinds);
  const groups = [...new Set(kinds.map(({ group }) => group))].map((group) => {
    const names = kinds.filter((kind) => kind.group === group).map(({ kind }) => kind);
    return `(owner.kind in ${celList(names)} && owner.apiVersion.startsWith(${cel(`${group}/`)}))`;
  });
  return `${CONTROLLERS}.filter(owner, ${groups.concat('false').join(' || ')})`;
};

/** CEL: `KIND/NAME/UID` of the object of a workload kind for which the object is made, as its owners say; "" for others. */
export const ownerOfKind = (props: AdmissionScopeProps) =>
  `${ownersOfKinds(props)}.map(owner, owner.kind + "/" + owner.name + "/" + owner.uid).join("")`;

/** Excludes what is made for an object that admission holds: that is the workload. */
export const notOfKind = (props: AdmissionScopeProps): MatchCondition => ({
  name: 'no-held-owner',
  expression: `!has(object.metadata.ownerReferences) || ${ownersOfKinds(props)}.size() == 0`,
});

/** Excludes requests of the queue's controller. */
export const notTheController = (props: ControllerUserProps): MatchCondition => ({
  name: 'not-the-controller',
  expression: `!(request.userInfo.username in ${celList(controllerUsers(props))})`,
});

/** Excludes what has the label of Kueue. */
export const NO_KUEUE: MatchCondition = {
  name: 'no-other-queue',
  expression: `!has(object.metadata.labels) || !(${cel(KUEUE_QUEUE_LABEL)} in object.metadata.labels)`,
};

/** Excludes Jobs of another controller and of Kueue, and those that are made for an object that admission holds. */
export const jobConditions = (props: AdmissionScopeProps): readonly MatchCondition[] => [
  {
    name: 'built-in-controller',
    expression: '!has(object.spec.managedBy) || object.spec.managedBy == "kubernetes.io/job-controller"',
  },
  NO_KUEUE,
  notOfKind(props),
];

/**
 * The Jobs that those exclude. The pods of a Job of Kueue are left alone with it; those of another controller enter the queue one
 * by one, and those of a Job for a held object have places in its grant.
 */
export const otherJobConditions = (props: AdmissionScopeProps): readonly MatchCondition[] => [
  {
    name: 'not-of-the-queue',
    expression: `!(${allConditions(jobConditions(props))})`,
  },
];

/** CEL: whether all of these hold. */
export const allConditions = (conditions: readonly MatchCondition[]) =>
  conditions.map(({ expression }) => `(${expression})`).join(' && ');

/** CEL: pods that admission gates. Each of the other kinds runs without the queue, so ./bypass.ts says who may create it. */
export const NOT_BOUND = '!has(object.spec.nodeName) || object.spec.nodeName == ""';
export const NO_MIRROR =
  '!has(object.metadata.annotations) || !("kubernetes.io/config.mirror" in object.metadata.annotations)';
export const NO_DAEMONSET =
  '!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(owner, ' +
  'has(owner.controller) && owner.controller && owner.kind == "DaemonSet" && owner.apiVersion.startsWith("apps/"))';

/** CEL: whether a Job is the controller of the pod. */
export const isOfJob = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && ` +
  'owner.kind == "Job" && owner.apiVersion.startsWith("batch/"))';
/** CEL: whether the Job controller creates the pod for a Job. */
export const FROM_JOB = `(request.userInfo.username in ${celList(JOB_CONTROLLER_USERS)} && ${isOfJob('object')})`;
/** CEL: pods that no other queue has. Only a pod from the Job controller has the annotation (./reserved.ts), and only from admission. */
const NOT_QUEUED_ELSEWHERE =
  `object.metadata.?annotations[?${cel(QUEUED_BY_ANNOTATION)}].orValue("") == "" || ` +
  `(oldObject == null && !${FROM_JOB})`;

/** Excludes pods that are bound, mirror pods, and pods of a DaemonSet or of a Job of Kueue. Labels never exclude a pod. */
export const POD_CONDITIONS: readonly MatchCondition[] = [
  { name: 'not-bound', expression: NOT_BOUND },
  { name: 'no-mirror-pod', expression: NO_MIRROR },
  { name: 'no-daemonset-pod', expression: NO_DAEMONSET },
  { name: 'no-other-queue', expression: NOT_QUEUED_ELSEWHERE },
];

/** CEL: whether the object has the assignment annotation. */
export const HAS_ASSIGNMENT = `object.metadata.?annotations[?${cel(ASSIGNMENT_ANNOTATION)}].orValue("") != ""`;

/** Metadata of the cluster-scoped objects of admission. */
export function admissionMetadata(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  wave: Wave = Wave.ADMISSION,
): k8s.ObjectMeta {
  return objectMetadata({ name, component: 'admission', wave, annotations });
}

/** A CEL string literal. */
export function cel(text: string): string {
  return JSON.stringify(text);
}

/** CEL: the field of an object, with a value for one that is not set. */
export function fieldOr(object: string, [first, ...rest]: FieldPath, otherwise: string): string {
  return `${[object, first, ...rest.map((key) => `?${key}`)].join('.')}.orValue(${otherwise})`;
}

/** CEL: the JSON patch that sets a field below `spec`, which may be below one that is not set. @param value CEL */
export function setField(path: FieldPath, value: string): string {
  const above = path.slice(0, -1);
  const add = `[JSONPatch{op: "add", path: "/${path.join('/')}", value: ${value}}]`;
  if (above.length < 2) return add;
  const whole = `[JSONPatch{op: "add", path: "/${above.join('/')}", value: {${cel(path.at(-1)!)}: ${value}}}]`;
  return `(has(object.${above.join('.')}) ? ${add} : ${whole})`;
}

/** A CEL list of strings. */
export function celList(texts: readonly string[]): string {
  return `[${texts.map(cel).join(', ')}]`;
}

function namespaceLabels(props: AdmissionScopeProps): Readonly<Record<string, string>> {
  return props.namespaceLabels ?? { [NAMESPACE_LABEL]: 'true' };
}
