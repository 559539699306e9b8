/** Pods without service links: users cannot add environment variables by the names of their Services. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { renderMiniCluster } from '../../constructs/minicluster/render';
import { stackObjects } from './manifests';

interface PodSpec {
  readonly enableServiceLinks?: boolean;
  readonly containers: readonly { readonly name: string }[];
}

/** Pod specs at any depth, of owners of any kind. */
function podSpecs(value: unknown): PodSpec[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(podSpecs);
  const { containers } = value as { containers?: unknown };
  const isPod = Array.isArray(containers) && containers.every((each) => 'name' in each && 'image' in each);
  return isPod ? [value as PodSpec, ...nested] : nested;
}

const containersOf = (specs: readonly PodSpec[]) => specs.map(({ containers }) => containers[0]?.name);
const withLinks = (specs: readonly PodSpec[]) => specs.filter((spec) => spec.enableServiceLinks !== false);

test.each<[string, FluxQueueProps, string[]]>([
  ['the defaults', {}, ['postgres', 'controller', 'webhook', 'reader']],
  ['the embedded matcher', { fluxion: 'embedded' }, ['postgres', 'controller', 'webhook', 'reader']],
  [
    'a scheduler',
    { kubernetesVersion: '1.37.1', scheduler: true },
    ['postgres', 'controller', 'scheduler', 'reader'],
  ],
])('no pod of the stack with %s has service links', (_, props, expected) => {
  const specs = podSpecs(stackObjects(props));
  expect(containersOf(specs)).toEqual(expected);
  expect(containersOf(withLinks(specs))).toEqual([]);
});

test('no pod of a MiniCluster has service links, so that a Service pmi does not set PMI_PORT', () => {
  const spec = { size: 2, containers: [{ image: 'app' }], services: [{ image: 'db', name: 'db' }] };
  const specs = podSpecs(
    renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab' }, spec }, { keygen: {} }),
  );
  expect(specs.length).toBe(3);
  expect(containersOf(withLinks(specs))).toEqual([]);
});
