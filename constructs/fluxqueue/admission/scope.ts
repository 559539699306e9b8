/** Which namespaces and which objects admission looks at: said once for the policies, the guards and the webhook. */
import type { k8s } from 'cdk8s-plus-28';
import {
  ASSIGNMENT_ANNOTATION,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../api/labels';
import { objectMetadata, Wave } from '../../metadata';

export interface AdmissionScopeProps {
  /**
   * Start of the names of the cluster-scoped objects.
   * @default 'fluxqueue'
   */
  readonly name?: string;
  /**
   * Namespace of the stack; it can never match.
   * @default 'fluxqueue-system'
   */
  readonly stackNamespace?: string;
  /**
   * Labels by which a namespace opts in.
   * @default { 'fluxqueue/enabled': 'true' }
   */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /**
   * Every namespace takes part that is not excluded and not labelled `fluxqueue/enabled: "false"`; namespaceLabels is ignored.
   * @default false
   */
  readonly clusterWide?: boolean;
  /**
   * Namespaces that can never match, besides kube-system and the stack's own.
   * @default - none; cluster-wide: kube-public and kube-node-lease
   */
  readonly excludedNamespaces?: readonly string[];
}

export interface ControllerUserProps {
  /**
   * User names of the runtime: they release, pin and ungate.
   * @default - the ServiceAccount fluxqueue-controller of the stack's namespace
   */
  readonly controllerUsers?: readonly string[];
}

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly string[];
}

/** A named CEL expression of an admission policy, evaluated when it is first used. */
export interface Variable {
  readonly name: string;
  readonly expression: string;
}

/** A Kubernetes matchCondition. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Kubernetes sets this label on every namespace. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** The namespaces that no rule of ours ever sees, whoever labels them. */
function excludedNamespaces(props: AdmissionScopeProps): string[] {
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
  return { matchExpressions: [...optedIn, ...outsideExcluded(props).matchExpressions] };
}

/** Every namespace but the excluded ones: what is reserved is reserved before a namespace opts in, too. */
export function outsideExcluded(props: AdmissionScopeProps): { matchExpressions: Requirement[] } {
  return {
    matchExpressions: [{ key: NAMESPACE_NAME, operator: 'NotIn', values: excludedNamespaces(props) }],
  };
}

/** CEL over `namespaceObject`: the namespace takes part. */
export function namespaceTakesPart(props: AdmissionScopeProps): string {
  const labels = 'namespaceObject.metadata.?labels.orValue({})';
  if (props.clusterWide === true) return `${labels}[?${cel(NAMESPACE_LABEL)}].orValue("") != "false"`;
  return Object.entries(namespaceLabels(props))
    .map(([key, value]) => `${labels}[?${cel(key)}].orValue("") == ${cel(value)}`)
    .join(' && ');
}

/** User name of a ServiceAccount of the stack. */
export function serviceAccountUser({ stackNamespace = STACK_NAMESPACE }: AdmissionScopeProps, name: string) {
  return `system:serviceaccount:${stackNamespace}:${name}`;
}

export function controllerUsers(props: AdmissionScopeProps & ControllerUserProps): readonly string[] {
  return props.controllerUsers ?? [serviceAccountUser(props, CONTROLLER_SERVICE_ACCOUNT)];
}

/** Jobs of another controller or another queue are left alone. */
export const JOB_CONDITIONS: readonly MatchCondition[] = [
  {
    name: 'built-in-controller',
    expression: '!has(object.spec.managedBy) || object.spec.managedBy == "kubernetes.io/job-controller"',
  },
  {
    name: 'no-other-queue',
    expression: '!has(object.metadata.labels) || !("kueue.x-k8s.io/queue-name" in object.metadata.labels)',
  },
];

/** Pods that are bound already, or belong to the kubelet or a DaemonSet, are left alone. No label lets a pod pass. */
export const POD_CONDITIONS: readonly MatchCondition[] = [
  { name: 'not-bound', expression: '!has(object.spec.nodeName) || object.spec.nodeName == ""' },
  {
    name: 'no-mirror-pod',
    expression:
      '!has(object.metadata.annotations) || !("kubernetes.io/config.mirror" in object.metadata.annotations)',
  },
  {
    name: 'no-daemonset-pod',
    expression:
      '!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(owner, ' +
      'has(owner.controller) && owner.controller && owner.kind == "DaemonSet" && owner.apiVersion.startsWith("apps/"))',
  },
];

/** CEL: the object carries the assignment annotation. */
export const HAS_ASSIGNMENT = `has(object.metadata.annotations) && ${cel(ASSIGNMENT_ANNOTATION)} in object.metadata.annotations`;

/** Metadata of every object of this folder. */
export function admissionMetadata(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
): k8s.ObjectMeta {
  return objectMetadata({ name, component: 'admission', wave: Wave.ADMISSION, annotations });
}

/** One token of a JSON pointer. */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A CEL string literal. */
export function cel(text: string): string {
  return JSON.stringify(text);
}

/** A CEL list of strings. */
export function celList(texts: readonly string[]): string {
  return `[${texts.map(cel).join(', ')}]`;
}

function namespaceLabels(props: AdmissionScopeProps): Readonly<Record<string, string>> {
  return props.namespaceLabels ?? { [NAMESPACE_LABEL]: 'true' };
}
