/** Cores that the pods of the stack cost their nodes, by the functions with which the controller counts. */
import type { FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { allocatableOf } from '../../../runtime/jobspec/graph-nodes';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { podRequests } from '../../../runtime/jobspec/requests';
import { nodeUnits, type UnitSettings, unmanagedUnits } from '../../../runtime/jobspec/units';
import { podTemplates, stackObjects } from '../manifests';

/** One pod of every component, on one node: with several nodes, each node has fewer. */
function stackPods(props: FluxQueueProps = {}) {
  return podTemplates(stackObjects(props)).map(({ spec }) =>
    podRequests(JSON.parse(JSON.stringify(spec)) as PodSpec),
  );
}

function coresLeft(cpu: string, props?: FluxQueueProps, units?: UnitSettings): number {
  const allocatable = allocatableOf({ metadata: { name: 'node' }, status: { allocatable: { cpu } } });
  const offered = nodeUnits(allocatable, units).core ?? 0;
  return offered - (unmanagedUnits(stackPods(props), allocatable, units).core ?? 0);
}

const SCHEDULER = { kubernetesVersion: '1.37.1', scheduler: true, admission: 'webhook' } as const;

test.each([
  // Allocatable cpu of nodes with 2 and 4 cores and the usual system reservations.
  ['1930m', 1],
  ['1900m', 1],
  ['1800m', 1],
  ['3920m', 3],
])('a node with %s cpu runs as many one-core pods with the stack as without it', (cpu, cores) => {
  expect(coresLeft(cpu)).toBe(cores);
  expect(coresLeft(cpu, { fluxion: 'embedded' })).toBe(cores);
  expect(coresLeft(cpu, SCHEDULER)).toBe(cores);
});

test('a node with exactly two cores runs one one-core pod, because the stack requests more than 0', () => {
  expect(coresLeft('2')).toBe(1);
});

test('with units of 100m the stack costs such a node only its requests', () => {
  expect(coresLeft('2', undefined, { cpuMillis: 100, memoryMiB: 128 })).toBe(16);
});

test('every container requests cpu, so that it is not starved on a full node', () => {
  for (const { spec } of podTemplates(stackObjects(SCHEDULER)))
    for (const { resources } of spec.containers)
      expect(String(resources?.requests?.cpu)).toMatch(/^[1-9]\d*m$/);
});
