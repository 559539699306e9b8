/** A resource taken apart, once, for everything that is made of it. */
import { coresOf } from './cores';
import { isInteractive } from './interactive';
import { type ObjectNames, objectLabels, objectNames } from './names';
import type { ContainerSpec, MiniClusterResource } from './resource';
import { type DefaultedSpec, withDefaults } from './schema';

export interface Parts {
  readonly resource: MiniClusterResource;
  readonly spec: DefaultedSpec;
  /** The container with Flux. */
  readonly runner: ContainerSpec;
  readonly runnerName: string;
  /** The other containers of the pod. */
  readonly sidecars: readonly ContainerSpec[];
  readonly interactive: boolean;
  readonly names: ObjectNames;
  /** Of every object; frozen, because the objects share it. */
  readonly labels: Readonly<Record<string, string>>;
  /** That each broker offers, where the spec says how many. */
  readonly cores: number | undefined;
}

export function takeApart(resource: MiniClusterResource): Parts {
  const spec = withDefaults(resource.spec);
  const found =
    spec.containers.length === 1 ? 0 : spec.containers.findIndex(({ runFlux }) => runFlux === true);
  const runner: ContainerSpec = { ...spec.containers[Math.max(found, 0)], runFlux: true };
  return {
    resource,
    spec,
    runner,
    runnerName: runner.name ?? resource.metadata.name,
    sidecars: spec.containers.filter((_, index) => index !== Math.max(found, 0)),
    interactive: isInteractive(spec, runner),
    names: objectNames(resource),
    labels: Object.freeze(objectLabels(resource)),
    cores: coresOf(spec, runner),
  };
}
