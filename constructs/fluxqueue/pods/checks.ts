/** Checks of the settings of pods. A setting that a component cannot have is refused, not ignored. */
import { PropsError } from '../../api/errors';
import { group, type PropRules, type Refusals } from '../../api/prop-rules';
import {
  amountOrQuantity,
  annotations,
  anyText,
  atLeast,
  labels,
  listOf,
  mapOf,
  podCount,
  text,
} from '../../api/rules';
import {
  affinity,
  envVar,
  podSecurityContext,
  securityContext,
  toleration,
  topologySpread,
} from './kubernetes-rules';
import type {
  ContainerProbes,
  ContainerResources,
  ContainerSettings,
  DisruptionBudget,
  PodSettings,
  PodsProps,
  ProbeTimings,
  ReplicatedPodSettings,
} from './props';

/** Default of `replicas`. */
export const REPLICAS = 2;

type Component = keyof PodsProps;

const TIMINGS: PropRules<ProbeTimings> = {
  initialDelaySeconds: atLeast(0),
  periodSeconds: atLeast(1),
  timeoutSeconds: atLeast(1),
  failureThreshold: atLeast(1),
};
const PROBES: PropRules<ContainerProbes> = {
  startup: group(TIMINGS),
  liveness: group(TIMINGS),
  readiness: group(TIMINGS),
};
export const RESOURCES_RULES: PropRules<ContainerResources> = {
  requests: mapOf(amountOrQuantity),
  limits: mapOf(amountOrQuantity),
};
const CONTAINER: PropRules<ContainerSettings> = {
  resources: group(RESOURCES_RULES),
  env: listOf(envVar),
  args: listOf(anyText),
  containerSecurityContext: securityContext,
  probes: group(PROBES),
};
const OF_POD: PropRules<Omit<PodSettings, keyof ContainerSettings>> = {
  nodeSelector: labels,
  affinity,
  tolerations: listOf(toleration),
  labels,
  annotations,
  imagePullSecrets: listOf(text),
  securityContext: podSecurityContext,
  priorityClassName: text,
};
const { probes: _, ...JOB_CONTAINER } = CONTAINER;
const BUDGET: PropRules<DisruptionBudget> = { maxUnavailable: podCount, minAvailable: podCount };
const OF_REPLICAS: PropRules<Omit<ReplicatedPodSettings, keyof PodSettings>> = {
  replicas: atLeast(1),
  disruptionBudget: group(BUDGET),
  topologySpreadConstraints: listOf(topologySpread),
};

const unknownSetting = (rules: object): Refusals => ({
  unknown: `must be one of: ${Object.keys(rules).join(', ')}`,
});

/** Why a component has not all settings, and the remedy. */
const lacking = (names: object, because: string, remedy: string): Refusals => ({
  named: Object.fromEntries(
    Object.keys(names).map((name) => [name, { problem: `is not supported, because ${because}`, remedy }]),
  ),
});

const REPLICATED: PropRules<ReplicatedPodSettings> = { ...CONTAINER, ...OF_POD, ...OF_REPLICAS };
const replicated = group(REPLICATED, unknownSetting(REPLICATED));

export const PODS_RULES: PropRules<PodsProps> = {
  controller: replicated,
  webhook: replicated,
  reader: replicated,
  scheduler: replicated,
  database: group<PodSettings>(
    { ...CONTAINER, ...OF_POD },
    lacking(
      OF_REPLICAS,
      'the database is one pod with one volume',
      'remove it, or use an existing database with replicas: Database.fromSecret(…)',
    ),
  ),
  backup: group<Omit<PodSettings, 'probes'>>(
    { ...JOB_CONTAINER, ...OF_POD },
    lacking({ ...OF_REPLICAS, probes: true }, 'a dump is a Job', 'remove it'),
  ),
  fluxion: group(
    CONTAINER,
    lacking(
      { ...OF_POD, ...OF_REPLICAS },
      'Fluxion is a container in the pods of the controller',
      'set it in pods.controller',
    ),
  ),
};
export const PODS_REFUSALS = unknownSetting(PODS_RULES);

/** Why the stack has no pods of a component, and the remedy; undefined if it has them. */
export type Absence = readonly [problem: string, remedy: string] | undefined;

/**
 * Checks what the rules of single settings cannot know.
 * @param absence why the stack has no pods of a component
 * @throws PropsError
 */
export function checkPods(pods: PodsProps, absence: (component: Component) => Absence): void {
  for (const [name, settings] of Object.entries(pods) as [Component, ReplicatedPodSettings | undefined][]) {
    if (settings === undefined) continue;
    const prop = `FluxQueue.pods.${name}`;
    const absent = absence(name);
    if (absent !== undefined) throw new PropsError(prop, absent[0], undefined, absent[1]);
    checkBudget(`${prop}.disruptionBudget`, settings.disruptionBudget, settings.replicas ?? REPLICAS);
  }
}

function checkBudget(prop: string, budget: DisruptionBudget | undefined, replicas: number): void {
  if (budget === undefined) return;
  const { maxUnavailable, minAvailable } = budget;
  if ((maxUnavailable === undefined) === (minAvailable === undefined))
    throw new PropsError(
      prop,
      'must have either maxUnavailable or minAvailable',
      budget,
      'give one of the two',
    );
  if (podsOf(maxUnavailable ?? 1, replicas) >= 1 && podsOf(minAvailable ?? 0, replicas) < replicas) return;
  throw new PropsError(
    prop,
    `allows no eviction of ${replicas} pods, so that their nodes cannot be drained`,
    budget,
    'let at least one pod be absent',
  );
}

/** Kubernetes rounds percentages up. */
function podsOf(value: number | string, replicas: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * replicas) / 100);
}
