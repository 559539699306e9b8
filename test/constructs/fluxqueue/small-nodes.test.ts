/** What the stack's own pods cost the nodes that they run on, by the functions that the controller counts with. */

import type { FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { allocatableOf } from '../../../runtime/jobspec/graph-nodes';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { podRequests } from '../../../runtime/jobspec/requests';
import { nodeUnits, type UnitSettings, unmanagedUnits } from '../../../runtime/jobspec/units';
import { podTemplates, stackObjects } from '../manifests';

/** Every component of the stack once, on one node: more than any node has where there are several. */
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
  // What kubelets offer of 2 and 4 cores with the usual reservations for the system.
  ['1930m', 1],
  ['1900m', 1],
  ['1800m', 1],
  ['3920m', 3],
])('a node of %s runs as many one-core pods with the stack as without it', (cpu, cores) => {
  expect(coresLeft(cpu)).toBe(cores);
  expect(coresLeft(cpu, { fluxion: 'embedded' })).toBe(cores);
  expect(coresLeft(cpu, SCHEDULER)).toBe(cores);
});

test('a node that offers exactly two cores gives one: kube-scheduler refuses two beside anything that asks for cpu', () => {
  expect(coresLeft('2')).toBe(1);
});

test('in units of 100m the stack costs such a node what it asks for, and no whole core', () => {
  expect(coresLeft('2', undefined, { cpuMillis: 100, memoryMiB: 128 })).toBe(17);
});

test('every container asks for some cpu: without it, full nodes would starve what the whole cluster waits for', () => {
  for (const { spec } of podTemplates(stackObjects(SCHEDULER)))
    for (const { resources } of spec.containers)
      expect(String(resources?.requests?.cpu)).toMatch(/^[1-9]\d*m$/);
});
