import { parseConfig } from '../../runtime/config';
import { FluxqError } from '../../runtime/errors';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion, InitRequest } from '../../runtime/fluxion/types';
import type { Node } from '../../runtime/kubernetes/types';
import { hasOwnLibrary, WarmFluxion } from '../../runtime/leader/warm-fluxion';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { Informers } from '../../runtime/shared/informers';
import { submission } from '../queue/submission';

const NOW = 1_000;
const logger = createLogger('test', 'silent');
const config = parseConfig({ fluxion: { address: 'unix:/run/fluxion.sock', engine: 'library' } });

function node(name: string): Node {
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: {},
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

function informers(isSynced = true): Informers {
  const nodes = { list: () => [node('n0'), node('n1')] };
  return { isSynced, nodes, pods: { byIndex: () => [] } } as unknown as Informers;
}

function running(jobid: number, core: string): WorkloadRow {
  const allocation = { jobid, start: NOW, end: NOW + 60, nodes: [{ name: 'n0', units: { core } }] };
  return { ...newRow(submission(`w${jobid}`), jobid), phase: 'Running', allocation };
}

function create(over: Partial<Fluxion> = {}) {
  const inits: InitRequest[] = [];
  const fluxion = Object.assign(embeddedFluxion(), over);
  const init = fluxion.init.bind(fluxion);
  fluxion.init = (request) => {
    inits.push(request);
    return init(request);
  };
  const warm = new WarmFluxion({ fluxion, config, logger, now: () => NOW, fence: () => 7 });
  return { warm, fluxion, inits };
}

test('makes the service equal to the rows and the nodes, with the last fence', async () => {
  const { warm, fluxion, inits } = create();
  await warm.follow([running(1, '0'), { ...running(2, '1'), allocation: null }], informers());
  await warm.follow([running(1, '0'), running(3, '1')], informers());
  expect((await fluxion.state()).jobs.map(({ jobid }) => jobid)).toEqual([1, 3]);
  expect(warm.isWarm).toBe(true);
  expect(inits).toHaveLength(2);
  expect(inits[1]).toMatchObject({ fence: 7, warm: true, policy: config.fluxion.policy });
  expect(inits[1]!.nodes.map(({ name }) => name)).toEqual(['n0', 'n1']);
});

test('sends nothing before everything was listed, and nothing after it was stopped', async () => {
  const { warm, inits } = create();
  await warm.follow([], informers(false));
  expect([inits, warm.isWarm]).toEqual([[], false]);
  warm.stop();
  await warm.follow([], informers());
  expect(inits).toEqual([]);
});

test('does not replay into the graph of a term that began meanwhile', async () => {
  let replays = 0;
  const { warm } = create({
    init: async () => {
      warm.stop();
      return 'boot';
    },
    replay: async () => {
      replays++;
    },
  });
  await warm.follow([running(1, '0')], informers());
  expect(replays).toBe(0);
});

test('leaves the service of a leader alone', async () => {
  const fenced = new FluxqError('FLUXQ_FLUXION_FENCED', 'the fencing number is lower than 8');
  const { warm, inits } = create({ init: () => Promise.reject(fenced) });
  await warm.follow([], informers());
  await warm.follow([], informers());
  expect(inits).toHaveLength(1);
  // There is nothing to wait for.
  expect(warm.isWarm).toBe(true);
});

test('tries again after another error', async () => {
  const { warm, inits } = create({ init: () => Promise.reject(new Error('no server yet')) });
  await warm.follow([], informers());
  await warm.follow([], informers());
  expect(inits).toHaveLength(2);
  expect(warm.isWarm).toBe(false);
});

test.each([
  ['unix:/run/fluxion.sock', 'library', true],
  ['unix:/run/fluxion.sock', 'embedded', false],
  ['fluxion:4242', 'library', false],
  ['embedded', 'library', false],
] as const)('service %s with engine %s: kept warm is %p', (address, engine, expected) => {
  expect(hasOwnLibrary(parseConfig({ fluxion: { address, engine } }))).toBe(expected);
});

test('follows a large cluster less often', async () => {
  let clock = NOW;
  const inits: number[] = [];
  const fluxion = Object.assign(embeddedFluxion(), {
    init: async () => {
      inits.push(clock);
      clock += 0.5;
      return 'boot';
    },
    replay: async () => {},
  });
  const warm = new WarmFluxion({ fluxion, config, logger, now: () => clock, fence: () => 0 });
  for (let i = 0; i < 5; i++, clock += 5) await warm.follow([], informers());
  expect(inits).toEqual([NOW, NOW + 10.5, NOW + 21]);
});
