/** The pods of the stack as its props want them: settings by component, names of images, labels of all objects. */
import { k8s } from 'cdk8s-plus-28';
import { PropsError } from '../../api/errors';
import { whenKnown } from '../../lazy';
import { selectorLabels } from '../../metadata';
import { Place } from '../../validation/manifest';
import { restrictedProblems } from '../../validation/pod-security';
import { REPLICAS } from './checks';
import type { ImageNames } from './images';
import { added, mergeContainer, mergeTemplate, type Template } from './merge';
import type { DisruptionBudget, PodSettings, PodsProps } from './props';

/** Components with pods of their own. */
type PodComponent = Exclude<keyof PodsProps, 'fluxion'>;
/** Components whose number of pods can be chosen. */
type ReplicatedComponent = Exclude<PodComponent, 'database' | 'backup'>;

/** Name of the container that the settings of a component are for. */
const MAIN_CONTAINERS: Readonly<Record<keyof PodsProps, string>> = {
  controller: 'controller',
  fluxion: 'fluxion',
  webhook: 'webhook',
  reader: 'reader',
  scheduler: 'scheduler',
  database: 'postgres',
  backup: 'backup',
};

export interface PodRules {
  readonly pods: PodsProps;
  readonly images: ImageNames;
  readonly pullSecrets: readonly string[];
  /** Labels of all objects of the stack. */
  readonly labels: Readonly<Record<string, string>>;
}

export class Pods {
  constructor(private readonly rules: PodRules) {}

  replicas(component: ReplicatedComponent): number {
    return this.rules.pods[component]?.replicas ?? REPLICAS;
  }

  /** The template of a component with the settings of users. */
  template(component: PodComponent, spec: k8s.PodSpec): Template {
    const { pods, labels } = this.rules;
    const own = selectorLabels(component);
    const template = {
      metadata: { labels: added(own, labels, 'FluxQueue.labels') },
      spec: this.withImages(spec),
    };
    const settings: PodSettings = pods[component] ?? {};
    const fluxion = component === 'controller' ? pods.fluxion : undefined;
    return whenKnown({ settings, fluxion }, (known) => {
      const prop = `FluxQueue.pods.${component}`;
      const container = MAIN_CONTAINERS[component];
      const { metadata, spec: pod } = mergeTemplate(template, known.settings, prop, {
        container,
        selector: own,
      });
      const spec =
        known.fluxion === undefined
          ? pod
          : mergeContainer(pod, MAIN_CONTAINERS.fluxion, known.fluxion, 'FluxQueue.pods.fluxion');
      checkRestricted(spec, prop);
      return { metadata, spec };
    });
  }

  /** The PodDisruptionBudget of a component. */
  budget(component: ReplicatedComponent): k8s.PodDisruptionBudgetSpec {
    const selector = { matchLabels: selectorLabels(component) };
    return whenKnown<DisruptionBudget, k8s.PodDisruptionBudgetSpec>(
      this.rules.pods[component]?.disruptionBudget ?? { maxUnavailable: 1 },
      ({ maxUnavailable, minAvailable }) => ({
        ...(maxUnavailable === undefined ? {} : { maxUnavailable: intOrString(maxUnavailable) }),
        ...(minAvailable === undefined ? {} : { minAvailable: intOrString(minAvailable) }),
        selector,
        // A pod that is not Ready serves nobody, and would keep its node from being drained for as long as it is not.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      }),
    );
  }

  private withImages(spec: k8s.PodSpec): k8s.PodSpec {
    const { images, pullSecrets } = this.rules;
    const named = (container: k8s.Container): k8s.Container =>
      container.image === undefined
        ? container
        : { ...container, image: whenKnown(container.image, (image) => images.of(image)) };
    return {
      ...spec,
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(named) }),
      containers: spec.containers.map(named),
      ...(pullSecrets.length === 0
        ? {}
        : { imagePullSecrets: [...new Set(pullSecrets)].map((name) => ({ name })) }),
    };
  }
}

/** @throws PropsError for a pod that the namespace of the stack refuses */
function checkRestricted(spec: k8s.PodSpec, prop: string): void {
  const [problem] = restrictedProblems(new Place(spec, 'spec'));
  if (problem === undefined) return;
  throw new PropsError(
    prop,
    `would make pods that Pod Security restricted refuses in the namespace of the stack (${problem})`,
    undefined,
    'remove that from securityContext and containerSecurityContext',
  );
}

function intOrString(value: number | string): k8s.IntOrString {
  return typeof value === 'number' ? k8s.IntOrString.fromNumber(value) : k8s.IntOrString.fromString(value);
}
