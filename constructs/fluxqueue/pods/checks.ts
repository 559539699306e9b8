/** Checks of the settings of pods. A setting that a component cannot have is refused, not ignored. */

import { k8s } from 'cdk8s-plus-28';
import { amountOf } from '../../api/amounts';
import { PropsError } from '../../api/errors';
import type {
  Amounts,
  ContainerSettings,
  DisruptionBudget,
  PodSettings,
  PodsProps,
  ReplicatedPodSettings,
} from './props';

/** Default of `replicas`. */
export const REPLICAS = 2;

type Component = keyof PodsProps;
/** A list that the compiler compares with the settings of an interface. */
type Names<Settings> = Readonly<Record<keyof Settings, true>>;

const CONTAINER: Names<ContainerSettings> = {
  resources: true,
  env: true,
  args: true,
  containerSecurityContext: true,
  probes: true,
};
const POD: Names<PodSettings> = {
  ...CONTAINER,
  nodeSelector: true,
  affinity: true,
  tolerations: true,
  labels: true,
  annotations: true,
  imagePullSecrets: true,
  securityContext: true,
  priorityClassName: true,
};
const REPLICATED: Names<ReplicatedPodSettings> = {
  ...POD,
  replicas: true,
  disruptionBudget: true,
  topologySpreadConstraints: true,
};

interface Kind {
  readonly settings: Readonly<Record<string, true>>;
  /** Why a component has not all settings, and the remedy. */
  readonly lacks?: readonly [because: string, remedy: string];
}

const KINDS: Readonly<Record<Component, Kind>> = {
  controller: { settings: REPLICATED },
  webhook: { settings: REPLICATED },
  reader: { settings: REPLICATED },
  scheduler: { settings: REPLICATED },
  database: {
    settings: POD,
    lacks: [
      'because the database is one pod with one volume',
      'remove it, or use an existing database with replicas: Database.fromSecret(…)',
    ],
  },
  backup: {
    settings: Object.fromEntries(Object.entries(POD).filter(([name]) => name !== 'probes')),
    lacks: ['because a dump is a Job', 'remove it'],
  },
  fluxion: {
    settings: CONTAINER,
    lacks: ['because Fluxion is a container in the pods of the controller', 'set it in pods.controller'],
  },
};

/** Why the stack has no pods of a component, and the remedy; undefined if it has them. */
export type Absence = readonly [problem: string, remedy: string] | undefined;

/**
 * Checks all settings.
 * @param absence why the stack has no pods of a component
 * @throws PropsError
 */
export function checkPods(pods: PodsProps, absence: (component: Component) => Absence): void {
  for (const [name, settings] of Object.entries(pods) as [Component, ReplicatedPodSettings][]) {
    const prop = `FluxQueue.pods.${name}`;
    const kind = KINDS[name];
    if (kind === undefined)
      throw new PropsError(
        prop,
        `must be one of: ${Object.keys(KINDS).join(', ')}`,
        settings,
        'choose one of them',
      );
    const absent = absence(name);
    if (absent !== undefined) throw new PropsError(prop, absent[0], undefined, absent[1]);
    if (typeof settings !== 'object' || settings === null)
      throw new PropsError(prop, 'must be an object', settings, 'give its settings, or remove it');
    checkNames(prop, settings, kind);
    checkSettings(prop, settings);
  }
}

function checkNames(prop: string, settings: object, { settings: known, lacks }: Kind): void {
  for (const [name, value] of Object.entries(settings)) {
    if (name in known) continue;
    const [because, remedy] = lacks ?? ['because pods of the stack do not have it', 'remove it'];
    const problem =
      name in REPLICATED
        ? `is not supported, ${because}`
        : `must be one of: ${Object.keys(known).join(', ')}`;
    throw new PropsError(`${prop}.${name}`, problem, value, name in REPLICATED ? remedy : 'correct the name');
  }
}

/** Writes the fields that Kubernetes has, and leaves out the others. */
type ToJson = (value: never) => Record<string, unknown> | undefined;

/** Objects of Kubernetes, or lists of them. */
const OF_KUBERNETES = {
  affinity: k8s.toJson_Affinity,
  containerSecurityContext: k8s.toJson_SecurityContext,
  env: k8s.toJson_EnvVar,
  securityContext: k8s.toJson_PodSecurityContext,
  tolerations: k8s.toJson_Toleration,
  topologySpreadConstraints: k8s.toJson_TopologySpreadConstraint,
} satisfies Partial<Record<keyof ReplicatedPodSettings, ToJson>>;

const LISTS: readonly string[] = [
  'env',
  'tolerations',
  'topologySpreadConstraints',
] satisfies (keyof typeof OF_KUBERNETES)[];

function checkFields(prop: string, value: unknown, toJson: ToJson): void {
  if (typeof value !== 'object' || value === null)
    throw new PropsError(prop, 'must be an object', value, 'give its fields');
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkFields(`${prop}[${index}]`, item, toJson);
    return;
  }
  const known = Object.keys(toJson(value as never) ?? {});
  for (const [name, given] of Object.entries(value))
    if (given !== undefined && !known.includes(name))
      throw new PropsError(
        `${prop}.${name}`,
        'is not a field of it in Kubernetes',
        given,
        'correct the name',
      );
}

function checkObjects(prop: string, settings: ReplicatedPodSettings): void {
  for (const name of Object.keys(OF_KUBERNETES) as (keyof typeof OF_KUBERNETES)[]) {
    const value = settings[name];
    if (value === undefined) continue;
    if (Array.isArray(value) !== LISTS.includes(name))
      throw new PropsError(
        `${prop}.${name}`,
        LISTS.includes(name) ? 'must be a list' : 'must be an object',
        value,
        'correct it',
      );
    checkFields(`${prop}.${name}`, value, OF_KUBERNETES[name]);
  }
}

function checkSettings(prop: string, settings: ReplicatedPodSettings): void {
  checkObjects(prop, settings);
  checkWhole(`${prop}.replicas`, settings.replicas, 1);
  checkBudget(`${prop}.disruptionBudget`, settings.disruptionBudget, settings.replicas ?? REPLICAS);
  checkAmounts(`${prop}.resources.requests`, settings.resources?.requests);
  checkAmounts(`${prop}.resources.limits`, settings.resources?.limits);
  for (const [probe, timings] of Object.entries(settings.probes ?? {}))
    for (const [name, value] of Object.entries(timings as Record<string, number>))
      checkWhole(`${prop}.probes.${probe}.${name}`, value, name === 'initialDelaySeconds' ? 0 : 1);
}

function checkWhole(prop: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return;
  throw new PropsError(prop, `must be a whole number, ${least} or more`, value, `give ${least} or more`);
}

function checkAmounts(prop: string, amounts: Amounts = {}): void {
  for (const [resource, amount] of Object.entries(amounts)) {
    const value = typeof amount === 'object' ? amount.value : amount;
    if (amountOf(value) !== undefined) continue;
    throw new PropsError(`${prop}.${resource}`, 'is not a quantity', value, 'write 2, 500m or 16Gi');
  }
}

function checkBudget(prop: string, budget: DisruptionBudget | undefined, replicas: number): void {
  if (budget === undefined) return;
  const given = [budget.maxUnavailable, budget.minAvailable].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new PropsError(
      prop,
      'must have either maxUnavailable or minAvailable',
      budget,
      'give one of the two',
    );
  const [value] = given;
  const valid = typeof value === 'string' ? /^\d{1,3}%$/.test(value) : Number.isInteger(value);
  if (!valid || Number.parseInt(String(value), 10) < 0)
    throw new PropsError(prop, 'must be a number of pods or a percentage', value, 'write 1 or 50%');
  const { maxUnavailable, minAvailable } = budget;
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
