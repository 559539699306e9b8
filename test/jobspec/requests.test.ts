import type { PodSpec, Quantities } from '../../runtime/jobspec/pod';
import { NANO } from '../../runtime/jobspec/quantity';
import { podRequests } from '../../runtime/jobspec/requests';

const requests = (cpu: string, more: Quantities = {}) => ({ resources: { requests: { cpu, ...more } } });
const sidecar = (cpu: string) => ({ ...requests(cpu), restartPolicy: 'Always' });

/** CPU requests in thousandths of a core. */
function cpuOf(pod: PodSpec): number {
  return Number((podRequests(pod).get('cpu') ?? 0n) / (NANO / 1000n));
}

test.each<[string, PodSpec, number]>([
  ['no requests', { containers: [{}] }, 0],
  ['containers add up', { containers: [requests('1'), requests('250m')] }, 1250],
  [
    'a larger init container counts alone',
    { containers: [requests('1')], initContainers: [requests('3')] },
    3000,
  ],
  [
    'init containers do not add up',
    { containers: [requests('1')], initContainers: [requests('2'), requests('2')] },
    2000,
  ],
  [
    'a sidecar adds to the containers',
    { containers: [requests('1')], initContainers: [sidecar('500m')] },
    1500,
  ],
  [
    'an init container adds to the sidecars before it',
    { containers: [requests('1')], initContainers: [sidecar('1'), requests('4')] },
    5000,
  ],
  [
    'and not to those after it',
    { containers: [requests('1')], initContainers: [requests('4'), sidecar('1')] },
    4000,
  ],
  [
    'two sidecars and an init container between them',
    { containers: [requests('1')], initContainers: [sidecar('1'), requests('3'), sidecar('2')] },
    4000,
  ],
  ['overhead comes on top', { containers: [requests('1')], overhead: { cpu: '250m' } }, 1250],
  ['limits stand in for requests', { containers: [{ resources: { limits: { cpu: '2' } } }] }, 2000],
  [
    'but requests win',
    { containers: [{ resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } }] },
    1000,
  ],
  [
    'pod-level requests replace the sum, below overhead',
    { containers: [requests('1')], overhead: { cpu: '1' }, resources: { requests: { cpu: '3' } } },
    4000,
  ],
  [
    'pod-level requests may be less',
    { containers: [requests('2')], resources: { requests: { cpu: '1' } } },
    1000,
  ],
  [
    'pod-level limits count if no container asks',
    { containers: [{}], resources: { limits: { cpu: '3' } } },
    3000,
  ],
  [
    'but not if a container requests it',
    { containers: [requests('1')], resources: { limits: { cpu: '3' } } },
    1000,
  ],
])('sums cpu by the rule of Kubernetes: %s', (_, pod, milli) => {
  expect(cpuOf(pod)).toBe(milli);
});

test('computes each resource separately', () => {
  const pod: PodSpec = {
    containers: [requests('1', { memory: '1Gi' }), { resources: { limits: { 'nvidia.com/gpu': 2 } } }],
    initContainers: [requests('100m', { memory: '4Gi' })],
    // Only cpu, memory and hugepages are allowed at pod level.
    resources: { requests: { 'nvidia.com/gpu': '9', 'hugepages-2Mi': '4Mi' } },
  };
  expect(Object.fromEntries(podRequests(pod))).toEqual({
    cpu: NANO,
    memory: 4n * 1024n ** 3n * NANO,
    'nvidia.com/gpu': 2n * NANO,
    'hugepages-2Mi': 4n * 1024n ** 2n * NANO,
  });
});

test('names the path of a malformed quantity', () => {
  const pod = { containers: [{}], initContainers: [{}, { resources: { limits: { memory: 'lots' } } }] };
  expect(() => podRequests(pod, 'spec.template.spec')).toThrow(
    expect.objectContaining({
      code: 'FLUXQ_QUANTITY',
      field: 'spec.template.spec.initContainers[1].resources.limits["memory"]',
      value: 'lots',
    }),
  );
});
