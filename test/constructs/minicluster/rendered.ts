/** Manifests of a small MiniCluster, for tests of single objects. */
import {
  type ManifestObject,
  type MiniClusterSpec,
  renderMiniCluster,
} from '../../../constructs/minicluster';

type ContainerSpec = MiniClusterSpec['containers'][number];
type JsonObject = Record<string, unknown>;

interface PodSpec {
  readonly containers: readonly JsonObject[];
  readonly initContainers?: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
  readonly [field: string]: unknown;
}

/** Spec of a Job, StatefulSet or Deployment. */
export interface Workload {
  readonly template: { readonly metadata: { labels: Record<string, string> }; readonly spec: PodSpec };
  readonly [field: string]: unknown;
}

/** Renders a cluster of four with one container; both can have more fields. */
export function render(
  more: Partial<MiniClusterSpec> = {},
  container: Partial<ContainerSpec> = {},
): readonly ManifestObject[] {
  const spec = { size: 4, containers: [{ image: 'app', command: 'run', ...container }], ...more };
  return renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab' }, spec });
}

export function find(objects: readonly ManifestObject[], kind: string, name = 'mc'): ManifestObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** Spec of the Job or StatefulSet. */
export function workload(...args: Parameters<typeof render>): Workload {
  return render(...args).at(-1)!.spec as Workload;
}

/** Spec of the brokers' pods. */
export function pod(...args: Parameters<typeof render>): PodSpec {
  return workload(...args).template.spec;
}

/** A container with the broker and a sidecar with ports. */
export const WITH_SIDECAR = [
  { image: 'app', command: 'run', runFlux: true },
  { image: 'api', name: 'api', command: 'serve', ports: [80, 443] },
];
