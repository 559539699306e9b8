/** Every Fluxion keeps pods off the taints of its graph as it is, by jobspecs that name no taint. */

import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { tolerating } from '../../runtime/fluxion/tolerating';
import type { Fluxion } from '../../runtime/fluxion/types';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../runtime/jobspec/pod';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { GraphNode } from '../../runtime/resources/types';

const GPU = 'taint:gpu=yes:NoSchedule';
const node = (name: string, ...properties: string[]): GraphNode => ({
  name,
  units: { core: 4, memory: 4 },
  properties,
});
const jobspec = (pod: Partial<PodSpec> = {}): Jobspec =>
  jobspecOf({
    pod: { containers: [{ resources: { requests: { cpu: '4' } } }], ...pod },
    pods: 1,
    walltime: 60,
  });
const PLAIN = jobspec();
const TOLERANT = jobspec({ tolerations: [{ key: 'gpu', operator: 'Exists' }] });

async function placed(fluxion: Fluxion, asked: Jobspec, jobid: number): Promise<string> {
  const answer = await fluxion.match({
    jobid,
    jobspec: asked,
    operation: 'allocate_with_satisfiability',
    now: 0,
  });
  return answer.status === 'OK' ? answer.allocation.nodes.map(({ name }) => name).join() : answer.status;
}

test('a node that comes with a taint, gets one or loses it changes the next answer', async () => {
  const fluxion = embeddedFluxion();
  await fluxion.init({ nodes: [node('a', GPU)], policy: 'lonode', now: 0 });
  expect([await placed(fluxion, PLAIN, 1), await fluxion.satisfiable(PLAIN)]).toMatchObject([
    'UNSATISFIABLE',
    { satisfiable: false },
  ]);
  expect(await placed(fluxion, TOLERANT, 2)).toBe('a');
  await fluxion.addNodes([node('b')]);
  expect(await placed(fluxion, PLAIN, 3)).toBe('b');
  await fluxion.removeNodes(['a']);
  await fluxion.addNodes([node('a')]);
  expect(await placed(fluxion, PLAIN, 4)).toBe('a');
  await fluxion.init({ nodes: [node('c', GPU)], policy: 'lonode', now: 0 });
  expect(await placed(fluxion, PLAIN, 5)).toBe('UNSATISFIABLE');
  await fluxion.close();
});

test('asks in RFC 31, with one object for one request until the taints change', async () => {
  const asked: Jobspec[] = [];
  const fluxion = tolerating({
    init: async () => 'boot',
    addNodes: async () => undefined,
    match: async ({ jobspec }: { jobspec: Jobspec }) => {
      asked.push(jobspec);
      return { status: 'BUSY', text: '' };
    },
  } as unknown as Fluxion);
  await fluxion.init({ nodes: [node('a')], policy: 'lonode', now: 0 });
  await placed(fluxion, PLAIN, 1);
  await fluxion.addNodes([node('b')]);
  await placed(fluxion, PLAIN, 2);
  await fluxion.addNodes([node('c', GPU)]);
  await placed(fluxion, PLAIN, 3);
  await placed(fluxion, TOLERANT, 4);
  expect(asked.map(({ attributes }) => attributes.system.constraints)).toEqual([
    undefined,
    undefined,
    { not: [{ properties: [GPU] }] },
    undefined,
  ]);
  expect(asked[1]).toBe(asked[0]);
});
