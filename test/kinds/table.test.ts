// Own cluster: controllers of workload kinds run on it, with their kinds and their webhooks.
/** Some workload kinds each day, with their own controllers; `npm run -s kinds -- --json` plays all. */
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { gangOf } from '../../runtime/jobspec/pod-sets';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { KINDS_DRAWN } from '../go-programs';
import { drawOf } from '../seed';
import { describeOwnStack } from '../stack/suite';
import { CONTROLLED, runnableKinds, startControllers } from './controllers';
import { kindOf } from './objects';
import { isWell, misplacedPods, playKinds, TABLE_CLUSTER } from './table';

test('each kind of the registry has a controller to be tried with', () => {
  expect(CONTROLLED.map(({ kind }) => kind)).toEqual(WORKLOAD_KINDS.map(({ kind }) => kind));
});

describe('misplaced pods', () => {
  const kind = kindOf('PyTorchJob');
  const setOf = (name: string, pods: number) => ({
    name,
    traits: { namespace: 'science', labels: {} },
    jobspec: jobspecOf({
      pod: { containers: [{ name: 'main' }] },
      pods,
      walltime: 60,
      units: DEFAULT_UNITS,
    } as unknown as Parameters<typeof jobspecOf>[0]),
  });
  const row = {
    jobspec: gangOf([setOf('master', 1), setOf('worker', 2)]),
    allocation: {
      nodes: [
        { name: 'n1', units: {}, podSets: { master: 1, worker: 1 } },
        { name: 'n2', units: {}, podSets: { worker: 1 } },
      ],
    },
  } as unknown as WorkloadRow;
  const pod = (set: string, nodeName: string) =>
    ({ metadata: { labels: { [kind.podSetLabel]: set } }, spec: { nodeName } }) as unknown as Pod;

  test.each([
    ['none', [pod('master', 'n1'), pod('worker', 'n1'), pod('worker', 'n2')], 0],
    ['one on a node of another set', [pod('master', 'n2'), pod('worker', 'n1')], 1],
    ['one beyond the places of its set', [pod('worker', 'n2'), pod('worker', 'n2')], 1],
    ['one of an unknown set, and one on no granted node', [pod('ps', 'n1'), pod('worker', 'n3')], 2],
  ])('are counted: %s', (_, pods, expected) => {
    expect(misplacedPods(kind, row, pods)).toBe(expected);
  });
});

test.each([
  [{}, true],
  [{ finished: 3 }, false],
  [{ misplaced: 1 }, false],
  [{ split: 1 }, false],
  [{ stuck: 1 }, false],
  [{ leaked: 1 }, false],
])('a run with %j is well: %s', (figures, expected) => {
  const all = { kinds: 2, finished: 4, misplaced: 0, split: 0, stuck: 0, leaked: 0, ...figures };
  expect(isWell(all)).toBe(expected);
});

const kinds = runnableKinds(drawOf(WORKLOAD_KINDS, KINDS_DRAWN));
const describeIf = kinds.length === 0 ? describe.skip : describe;

describeIf('gangs of workload kinds', () => {
  describeOwnStack(
    kinds.map(({ kind }) => kind).join(', '),
    (getFixture) => {
      let controllers: { stop(): Promise<void> } | undefined;
      beforeAll(async () => {
        controllers = await startControllers(getFixture().stack.cluster, kinds);
        await getFixture().stack.startController({ fluxion: { address: 'embedded' } });
      });
      afterAll(() => controllers?.stop());

      test('start whole on their nodes, wait whole, end, and leave nothing', async () => {
        const said: string[] = [];
        const figures = await playKinds(getFixture(), kinds, (line) => said.push(line));
        // What it said shows why something is stuck.
        expect({ ...figures, said: isWell(figures) ? [] : said }).toEqual({
          kinds: kinds.length,
          finished: 2 * kinds.length,
          misplaced: 0,
          split: 0,
          stuck: 0,
          leaked: 0,
          said: [],
        });
      });
    },
    { cluster: TABLE_CLUSTER, createsMiniClusters: false },
  );
});
