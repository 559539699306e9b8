/** A pod that gets a variable for every Service of its namespace starts with what others wrote into its environment. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { renderMiniCluster } from '../../constructs/minicluster/render';
import { stackObjects } from './manifests';

interface PodSpec {
  readonly enableServiceLinks?: boolean;
  readonly containers: readonly { readonly name: string }[];
}

/** Every pod spec in there, at any depth: of whatever kind its owner is. */
function podSpecs(value: unknown): PodSpec[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(podSpecs);
  const { containers } = value as { containers?: unknown };
  const isPod = Array.isArray(containers) && containers.every((each) => 'name' in each && 'image' in each);
  return isPod ? [value as PodSpec, ...nested] : nested;
}

const containersOf = (specs: readonly PodSpec[]) => specs.map(({ containers }) => containers[0]?.name);
const linked = (specs: readonly PodSpec[]) => specs.filter((spec) => spec.enableServiceLinks !== false);

test.each<[string, FluxQueueProps, string[]]>([
  ['the defaults', {}, ['postgres', 'controller', 'webhook']],
  ['the embedded matcher', { fluxion: 'embedded' }, ['postgres', 'controller', 'webhook']],
  ['a scheduler', { kubernetesVersion: '1.37.1', scheduler: true }, ['postgres', 'controller', 'scheduler']],
])('no pod of the stack with %s has links to Services', (_, props, expected) => {
  const specs = podSpecs(stackObjects(props));
  expect(containersOf(specs)).toEqual(expected);
  expect(containersOf(linked(specs))).toEqual([]);
});

test('no pod of a MiniCluster has, so that a Service named pmi does not set PMI_PORT', () => {
  const spec = { size: 2, containers: [{ image: 'app' }], services: [{ image: 'db', name: 'db' }] };
  const specs = podSpecs(
    renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab' }, spec }, { keygen: {} }),
  );
  expect(specs.length).toBe(3);
  expect(containersOf(linked(specs))).toEqual([]);
});
