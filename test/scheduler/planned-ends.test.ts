/** The ends with which Fluxion plans follow those in the rows, from the grant on. */
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import { FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { submission } from '../queue/submission';

const NOW = 1_000;

test('the end of a grant whose first container starts late moves, also where it does so before the next pass', async () => {
  const fluxion = embeddedFluxion();
  const logger = createLogger('test', 'silent');
  const graph = new FluxionSync({ fluxion, policy: 'first', fence: 1, logger, onRebuild: () => undefined });
  const node = { name: 'n0', units: { core: 2 } };
  const given = { nodes: new Map([['n0', node]]), unmanaged: new Map(), reservations: [] };
  await graph.sync({ ...given, now: NOW, holders: [] });
  const allocation = { jobid: 1, start: NOW, end: NOW + 60, nodes: [{ name: 'n0', units: { core: '0' } }] };
  await fluxion.replay([allocation], NOW);
  graph.granted([{ uid: 'w1', allocation }]);
  const late = { ...newRow(submission('w1'), 1), allocation: { ...allocation, end: NOW + 100 } };
  expect(await graph.sync({ ...given, now: NOW + 60, holders: [late] })).toMatchObject({ freed: true });
  expect((await fluxion.state()).jobs).toMatchObject([{ jobid: 1, end: NOW + 100 }]);
});
