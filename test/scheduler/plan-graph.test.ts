/** What a plan's own matcher holds: which units of a node pods outside the queue have there means nothing. */
import type { UnitCounts } from '../../runtime/resources/types';
import type { Reservation } from '../../runtime/scheduler/pass/reservations';
import { planGraph } from '../../runtime/scheduler/plan-graph';
import { NOW, nodes, using } from './fluxion-sync-fixture';

function promise(jobid: number, name: string, core: string): Reservation {
  const allocation = { jobid, start: NOW + 50, end: NOW + 90, nodes: [{ name, units: { core } }] };
  return { uid: `r${jobid}`, jobid, allocation };
}

async function graphOf(reservations: readonly Reservation[], usage: Readonly<Record<string, UnitCounts>>) {
  const graph = await planGraph({
    now: NOW,
    nodes: nodes({ name: 'n0', units: { core: 4 } }, { name: 'n1', units: { core: 4 } }),
    unmanaged: using(usage),
    match: 'lonode',
    holders: [],
    reservations,
    isOver: () => false,
    rest: () => undefined,
  });
  const state = await graph!.matcher.state();
  return {
    promised: graph!.reservations.map(({ uid }) => uid),
    jobs: state.jobs.filter(({ jobid }) => jobid < 100).map(({ jobid }) => jobid),
    free: Object.fromEntries(state.nodes.map(({ name, free }) => [name, free.core])),
  };
}

test('keeps a promise beside pods outside the queue, which Fluxion has on other units of the node', async () => {
  expect(await graphOf([promise(1, 'n0', '0,2')], { n0: { core: 2 } })).toEqual({
    promised: ['r1'],
    jobs: [1],
    free: { n0: 2, n1: 4 },
  });
});

test('loses promises only where pods outside the queue leave no room for them', async () => {
  const both = [promise(1, 'n0', '0,2'), promise(2, 'n1', '0-3')];
  expect(await graphOf(both, { n0: { core: 3 } })).toEqual({
    promised: ['r2'],
    jobs: [2],
    free: { n0: 1, n1: 4 },
  });
});
