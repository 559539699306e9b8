/**
 * What kube-scheduler asks of the nodes of a pod because of other pods: host ports, required pod affinity and
 * anti-affinity, and strict topology spread; and amounts of node resources that are not units of the graph. Fluxion knows
 * none of it. The rules are stored with the jobspec, and scheduling passes plan by them.
 */
import { type ClusterFacts, constraintOf } from './constraints';
import { isEmptySelector, type Labels, selects } from './label-selector';
import type { LabelSelector, PodAffinityTerm, PodSpec, TopologySpreadConstraint } from './pod';
import { ceilDiv, NANO } from './quantity';
import type { Requests } from './requests';
import type { Constraint, GroupRule, PlacementRules, SelectedPods, SpreadRule } from './types';
import { unitType } from './units';

/** A pod as others' rules see it. */
export interface PodTraits {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rules?: PlacementRules;
}

/** @returns undefined if kube-scheduler asks nothing of the kind */
export function placementRulesOf(
  pod: PodSpec,
  requests: Requests,
  self: Omit<PodTraits, 'rules'>,
  facts: ClusterFacts,
): PlacementRules | undefined {
  const { podAffinity, podAntiAffinity } = pod.affinity ?? {};
  const spread = (pod.topologySpreadConstraints ?? []).filter(isStrict);
  const rules = {
    hostPorts: hostPortsOf(pod),
    apart: termsOf(podAntiAffinity).map((term) => groupRule(term, self)),
    together: termsOf(podAffinity)
      .filter((term) => !hasUnknownNamespaces(term))
      .map((term) => groupRule(term, self)),
    spread: spreadRules(pod, spread, self, facts),
  };
  const amounts = amountsOf(requests);
  const used = Object.entries(rules).filter(([, list]) => list.length > 0);
  if (used.length === 0 && amounts === undefined) return undefined;
  return { ...Object.fromEntries(used), ...(amounts === undefined ? {} : { amounts }) };
}

/** Whether the pod is one of those that a rule is about. */
export function isAbout({ namespaces, selector }: SelectedPods, { namespace, labels }: PodTraits): boolean {
  return (namespaces?.includes(namespace) ?? true) && selects(selector, labels);
}

/** Whether two pods cannot be on one node because of their host ports. Address 0.0.0.0 is every address. */
export function portsConflict(a: PlacementRules | undefined, b: PlacementRules | undefined): boolean {
  const others = b?.hostPorts ?? [];
  if (others.length === 0) return false;
  return (a?.hostPorts ?? []).some((port) => others.some((other) => isSamePort(port, other)));
}

/** Which namespaces a selector of namespaces means is not known here, unless it means all. */
export function hasUnknownNamespaces({ namespaceSelector }: PodAffinityTerm): boolean {
  return namespaceSelector !== undefined && !isEmptySelector(namespaceSelector);
}

/** Phrases for messages, e.g. `one pod per kubernetes.io/hostname (podAntiAffinity)`. */
export function phrasesOf({
  hostPorts,
  apart,
  together,
  jointly,
  spread,
  amounts,
}: PlacementRules): readonly string[] {
  return [
    ...Object.entries(amounts ?? {}).map(
      ([resource, amount]) => `${amountText(amount)} of ${resource} per pod`,
    ),
    ...(hostPorts === undefined ? [] : [`one pod per node (hostPort ${hostPorts.map(portOf).join(', ')})`]),
    ...(apart ?? []).map(({ topologyKey, self }) =>
      self
        ? `one pod per ${topologyKey} (podAntiAffinity)`
        : `no ${topologyKey} of certain other pods (podAntiAffinity)`,
    ),
    ...(together ?? []).map(({ topologyKey, self }) =>
      self
        ? `one ${topologyKey} for all (podAffinity)`
        : `the ${topologyKey} of certain other pods (podAffinity)`,
    ),
    ...(jointly ?? []).map((key) => `one ${key} for all (their volume)`),
    ...(spread ?? []).map(
      ({ topologyKey, maxSkew }) =>
        `spread over ${topologyKey} with maxSkew ${maxSkew} (topologySpreadConstraints)`,
    ),
  ];
}

function amountText(amount: number): string {
  return amount >= 2 ** 30 && amount % 2 ** 30 === 0
    ? `${amount / 2 ** 30} GiB`
    : amount >= 2 ** 20 && amount % 2 ** 20 === 0
      ? `${amount / 2 ** 20} MiB`
      : String(amount);
}

function hostPortsOf({ containers, initContainers = [] }: PodSpec): readonly string[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ protocol = 'TCP', hostIP, hostPort }) => `${protocol}/${hostIP || '0.0.0.0'}/${hostPort}`);
}

function isSamePort(a: string, b: string): boolean {
  const [protocol, ip, port] = a.split('/');
  const [otherProtocol, otherIp, otherPort] = b.split('/');
  if (protocol !== otherProtocol || port !== otherPort) return false;
  return ip === otherIp || ip === '0.0.0.0' || otherIp === '0.0.0.0';
}

function portOf(hostPort: string): string {
  return hostPort.slice(hostPort.lastIndexOf('/') + 1);
}

function termsOf(affinity: NonNullable<PodSpec['affinity']>['podAffinity']): readonly PodAffinityTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function isStrict({ whenUnsatisfiable }: TopologySpreadConstraint): boolean {
  return whenUnsatisfiable === 'DoNotSchedule';
}

function groupRule(term: PodAffinityTerm, self: Omit<PodTraits, 'rules'>): GroupRule {
  const { topologyKey, labelSelector, namespaces = [], namespaceSelector } = term;
  const named = namespaces.length === 0 && namespaceSelector === undefined ? [self.namespace] : namespaces;
  const isEverywhere = namespaceSelector !== undefined && isEmptySelector(namespaceSelector);
  const pods: SelectedPods = {
    ...(isEverywhere ? {} : { namespaces: named }),
    ...selectorWith(labelSelector, term, self.labels),
  };
  return { topologyKey, ...pods, self: isAbout(pods, self) };
}

/** Constraints with the same policies count the same groups: these are written once. */
function spreadRules(
  pod: PodSpec,
  spread: readonly TopologySpreadConstraint[],
  self: Omit<PodTraits, 'rules'>,
  facts: ClusterFacts,
): readonly SpreadRule[] {
  const groups = new Map<string, Constraint | undefined>();
  return spread.map((constraint) => {
    const policies = `${constraint.nodeAffinityPolicy} ${constraint.nodeTaintsPolicy}`;
    if (!groups.has(policies)) groups.set(policies, groupsOf(pod, constraint, facts));
    return spreadRule(constraint, self, groups.get(policies));
  });
}

/** Only pods of the pod's own namespace count. */
function spreadRule(
  constraint: TopologySpreadConstraint,
  self: Omit<PodTraits, 'rules'>,
  among: Constraint | undefined,
): SpreadRule {
  const { topologyKey, maxSkew, minDomains = 1, labelSelector } = constraint;
  const pods: SelectedPods = {
    namespaces: [self.namespace],
    ...selectorWith(labelSelector, constraint, self.labels),
  };
  return {
    topologyKey,
    ...pods,
    self: isAbout(pods, self),
    maxSkew,
    ...(minDomains > 1 ? { minDomains } : {}),
    ...(among === undefined ? {} : { among }),
  };
}

const ALL_TAINTS: NonNullable<PodSpec['tolerations']> = [{ operator: 'Exists' }];

/** The nodes whose groups count; undefined: all. */
function groupsOf(
  { nodeSelector, affinity, tolerations }: PodSpec,
  { nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpreadConstraint,
  facts: ClusterFacts,
): Constraint | undefined {
  const honorsAffinity = nodeAffinityPolicy !== 'Ignore';
  const pod: PodSpec = {
    containers: [],
    ...(honorsAffinity && nodeSelector !== undefined ? { nodeSelector } : {}),
    ...(honorsAffinity && affinity !== undefined ? { affinity } : {}),
    tolerations: nodeTaintsPolicy === 'Honor' ? (tolerations ?? []) : ALL_TAINTS,
  };
  return constraintOf(pod, new Map(), facts);
}

/** The apiserver adds these keys to the selectors of pods, but not to those of pod templates. */
function selectorWith(
  selector: LabelSelector | undefined,
  {
    matchLabelKeys = [],
    mismatchLabelKeys = [],
  }: Pick<PodAffinityTerm, 'matchLabelKeys' | 'mismatchLabelKeys'>,
  labels: Labels,
): { selector?: LabelSelector } {
  if (selector === undefined) return {};
  const added = (keys: readonly string[], operator: string) =>
    keys.filter((key) => labels[key] !== undefined).map((key) => ({ key, operator, values: [labels[key]!] }));
  const more = [...added(matchLabelKeys, 'In'), ...added(mismatchLabelKeys, 'NotIn')];
  if (more.length === 0) return { selector };
  return { selector: { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...more] } };
}

/** Resources of the node that are neither units of the graph nor unknown to kube-scheduler. */
function amountsOf(requests: Requests): Readonly<Record<string, number>> | undefined {
  const amounts = [...requests]
    .filter(([resource, quantity]) => quantity > 0n && unitType(resource) === undefined)
    .map(([resource, quantity]) => [resource, Number(ceilDiv(quantity, NANO))] as const);
  return amounts.length === 0 ? undefined : Object.fromEntries(amounts.sort());
}
