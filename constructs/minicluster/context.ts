/** Everything that several manifests need of one resource, derived once. */
import { coresOf, gpusOf } from './cores';
import { isInteractive } from './interactive';
import { type ObjectNames, objectLabels, objectNames } from './names';
import type { ContainerSpec, MiniClusterResource } from './resource';
import { type DefaultedSpec, withDefaults } from './schema';

export interface ClusterContext {
  readonly resource: MiniClusterResource;
  /** The spec of the resource with all defaults filled in. */
  readonly spec: DefaultedSpec;
  /** The container that runs the broker. */
  readonly brokerContainer: ContainerSpec;
  readonly brokerContainerName: string;
  /** The other containers of the pod. */
  readonly sidecars: readonly ContainerSpec[];
  readonly interactive: boolean;
  readonly names: ObjectNames;
  /** Labels of every object; frozen, because the objects share them. */
  readonly labels: Readonly<Record<string, string>>;
  /** Number of cores that each broker offers; undefined if the spec does not tell. */
  readonly cores: number | undefined;
  /** Number of GPUs that each broker offers. */
  readonly gpus: number;
}

export function contextOf(resource: MiniClusterResource): ClusterContext {
  const spec = withDefaults(resource.spec);
  const found =
    spec.containers.length === 1 ? 0 : spec.containers.findIndex(({ runFlux }) => runFlux === true);
  const brokerIndex = Math.max(found, 0);
  const brokerContainer: ContainerSpec = { ...spec.containers[brokerIndex], runFlux: true };
  return {
    resource,
    spec,
    brokerContainer,
    brokerContainerName: brokerContainer.name ?? resource.metadata.name,
    sidecars: spec.containers.filter((_, index) => index !== brokerIndex),
    interactive: isInteractive(spec, brokerContainer),
    names: objectNames(resource),
    labels: Object.freeze(objectLabels(resource)),
    cores: coresOf(spec, brokerContainer),
    gpus: gpusOf(spec, brokerContainer),
  };
}
