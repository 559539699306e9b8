/**
 * The fields of a pod spec that kube-scheduler checks and that are neither units nor constraints of a jobspec. A grant may
 * choose a node that kube-scheduler then refuses because of them. docs/kube-scheduler.md has the table of all fields.
 */
import { GATE } from '../../constructs/api/labels';
import { type ClusterFacts, uncountedLabels } from './constraints';
import { hasUnknownNamespaces } from './placement-rules';
import type { PodSpec } from './pod';

interface Context {
  /** Path of the pod spec in the user's object. */
  readonly field: string;
  readonly facts: ClusterFacts;
  /** Paths of volumes whose place is not known, relative to the spec. */
  readonly volumes: readonly string[];
}

/** Paths of the fields of one kind that the pod uses, relative to its spec. */
type Detector = (pod: PodSpec, context: Context) => readonly string[];

const DETECTORS: readonly Detector[] = [
  (pod, { facts }) => uncountedLabels(pod, facts).map((key) => `affinity.nodeAffinity (label ${key})`),
  ({ affinity }) => unknownNamespaces('affinity.podAffinity', affinity?.podAffinity),
  ({ affinity }) => unknownNamespaces('affinity.podAntiAffinity', affinity?.podAntiAffinity),
  (_, { volumes }) => volumes,
  // kube-scheduler keeps pods that write to the same disk of these kinds from each other's nodes.
  ({ volumes = [] }) =>
    volumes.flatMap(({ iscsi, rbd }, i) => usedIf(`volumes[${i}]`, iscsi !== undefined || rbd !== undefined)),
  ({ resourceClaims = [] }) => usedIf('resourceClaims', resourceClaims.length > 0),
  // A pod template with a known RuntimeClass has the fields of the class instead of its name.
  ({ runtimeClassName }, { field }) =>
    usedIf('runtimeClassName', runtimeClassName !== undefined && field.includes('template')),
];

/** Names of the scheduling gates of other controllers. */
export function foreignGates({ schedulingGates = [] }: PodSpec): readonly string[] {
  return schedulingGates.map(({ name }) => name).filter((name) => name !== GATE);
}

/** Those of several pods, each once, in alphabetical order. */
export function foreignGatesOf(pods: readonly { readonly spec: PodSpec }[]): readonly string[] {
  return [...new Set(pods.flatMap(({ spec }) => foreignGates(spec)))].sort();
}

/** Full paths, each once, in the order of a pod spec. */
export function unmodeledFields(pod: PodSpec, context: Context): readonly string[] {
  const paths = DETECTORS.flatMap((detect) => detect(pod, context));
  return [...new Set(paths)].map((path) => `${context.field}.${path}`);
}

function usedIf(path: string, isUsed: boolean): readonly string[] {
  return isUsed ? [path] : [];
}

/** The labels of namespaces are not watched. */
function unknownNamespaces(
  path: string,
  affinity: NonNullable<PodSpec['affinity']>['podAffinity'],
): readonly string[] {
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return usedIf(`${path} (namespaceSelector)`, terms.some(hasUnknownNamespaces));
}
