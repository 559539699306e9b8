/** Adds the settings of users to a pod template of the stack. What the stack needs cannot be replaced. */
import { k8s } from 'cdk8s-plus-28';
import { lessThan } from '../../api/amounts';
import { PropsError } from '../../api/errors';
import type {
  Amounts,
  ContainerProbes,
  ContainerResources,
  ContainerSettings,
  PodSettings,
  ReplicatedPodSettings,
} from './props';

/** A pod template of the stack, with labels. */
export interface Template {
  readonly metadata: k8s.ObjectMeta & { readonly labels: Record<string, string> };
  readonly spec: k8s.PodSpec;
}

/**
 * Adds settings to a template.
 * @param prop name of the prop with the settings, for errors
 * @param component the container that the settings are for, and the labels that select the pods
 */
export function mergeTemplate(
  { metadata, spec }: Template,
  settings: PodSettings,
  prop: string,
  component: { readonly container: string; readonly selector: Record<string, string> },
): Template {
  const { labels, annotations } = settings;
  return {
    metadata: {
      ...metadata,
      labels: added(metadata.labels, labels, `${prop}.labels`),
      ...(annotations === undefined
        ? {}
        : { annotations: added(metadata.annotations ?? {}, annotations, `${prop}.annotations`) }),
    },
    spec: mergeContainer(mergeSpec(spec, settings, component.selector), component.container, settings, prop),
  };
}

/** Adds entries to labels or annotations. @throws PropsError for a key that the stack sets */
export function added(
  own: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>> | undefined,
  prop: string,
): Record<string, string> {
  for (const key of Object.keys(given ?? {}))
    if (key in own)
      throw new PropsError(`${prop}[${key}]`, 'is set by the stack', given?.[key], 'choose another key');
  return { ...own, ...given };
}

function mergeSpec(
  spec: k8s.PodSpec,
  settings: PodSettings & Pick<ReplicatedPodSettings, 'topologySpreadConstraints'>,
  matchLabels: Record<string, string>,
): k8s.PodSpec {
  const { nodeSelector, affinity, tolerations, imagePullSecrets, securityContext, priorityClassName } =
    settings;
  const spread = settings.topologySpreadConstraints?.map((each) => ({
    ...each,
    // Kubernetes applies a constraint without a selector to no pod.
    labelSelector: each.labelSelector ?? { matchLabels },
  }));
  return {
    ...spec,
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(tolerations === undefined ? {} : { tolerations: [...tolerations] }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    ...(imagePullSecrets === undefined
      ? {}
      : { imagePullSecrets: withSecrets(spec.imagePullSecrets, imagePullSecrets) }),
    ...(securityContext === undefined
      ? {}
      : { securityContext: { ...spec.securityContext, ...securityContext } }),
    ...(spread === undefined ? {} : { topologySpreadConstraints: spread }),
  };
}

/** Each Secret once: server-side apply refuses a list with two entries of one name. */
function withSecrets(
  own: readonly k8s.LocalObjectReference[] = [],
  given: readonly string[],
): k8s.LocalObjectReference[] {
  return [...new Set([...own.map(({ name = '' }) => name), ...given])].map((name) => ({ name }));
}

/** Adds settings to one container of a pod. */
export function mergeContainer(
  spec: k8s.PodSpec,
  name: string,
  settings: ContainerSettings,
  prop: string,
): k8s.PodSpec {
  const containers = spec.containers.map((each) =>
    each.name === name ? merged(each, settings, prop) : each,
  );
  return { ...spec, containers };
}

function merged(container: k8s.Container, settings: ContainerSettings, prop: string): k8s.Container {
  const { resources, env = [], args, containerSecurityContext: context, probes } = settings;
  const own = new Set(container.env?.map(({ name }) => name));
  for (const { name, value } of env) {
    if (own.has(name))
      throw new PropsError(`${prop}.env[${name}]`, 'is set by the stack, or twice', value, 'remove it');
    own.add(name);
  }
  return {
    ...container,
    ...(resources === undefined
      ? {}
      : { resources: mergeResources(container.resources, resources, `${prop}.resources`) }),
    ...(env.length === 0 ? {} : { env: [...(container.env ?? []), ...env] }),
    ...(args === undefined ? {} : { args: [...(container.args ?? []), ...args] }),
    ...(context === undefined ? {} : { securityContext: { ...container.securityContext, ...context } }),
    ...(probes === undefined ? {} : mergeProbes(container, probes)),
  };
}

function mergeProbes(container: k8s.Container, { startup, liveness, readiness }: ContainerProbes) {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  return {
    startupProbe: { ...startupProbe, ...startup },
    livenessProbe: { ...livenessProbe, ...liveness },
    readinessProbe: { ...readinessProbe, ...readiness },
  };
}

function mergeResources(
  own: k8s.ResourceRequirements = {},
  given: ContainerResources,
  prop: string,
): k8s.ResourceRequirements {
  const requests = { ...own.requests, ...quantities(given.requests) };
  const limits = { ...own.limits, ...quantities(given.limits) };
  for (const [resource, request] of Object.entries(requests)) {
    const limit = limits[resource];
    if (limit === undefined || !lessThan(limit.value, request.value)) continue;
    throw new PropsError(
      `${prop}.requests.${resource}`,
      `is greater than the limit of ${limit.value}`,
      request.value,
      `lower it, or give limits.${resource}`,
    );
  }
  return { ...own, requests, limits };
}

function quantities(amounts: Amounts = {}): Record<string, k8s.Quantity> {
  return Object.fromEntries(
    Object.entries(amounts).map(([resource, amount]) => [resource, quantity(amount)]),
  );
}

function quantity(amount: Amounts[string]): k8s.Quantity {
  if (typeof amount === 'number') return k8s.Quantity.fromNumber(amount);
  return typeof amount === 'string' ? k8s.Quantity.fromString(amount) : amount;
}
