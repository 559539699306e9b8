// Own cluster: pods leave a NotReady node after 5 s, which is an argument of the apiserver.
/**
 * Every cause for which a workload might not run, on the real control plane. All rows share one cluster and run side by
 * side; each has its own namespace, queue and nodes. Other rows each day, all with NIGHTLY=1, and with CAUSES='regular expression' those that
 * match it.
 */
import { STACK_DEFAULTS } from '../../constructs/api/queue-defaults';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { ConcurrencyLimiter } from '../../runtime/kubernetes/concurrency-limiter';
import { drawOf } from '../seed';
import { owned } from '../stack/placed';
import { describeOwnStack } from '../stack/suite';
import { DEFAULT_NODES, type Row } from './row';
import { RowCluster } from './row-cluster';
import { ROWS } from './rows';

/** Rows at the same time: most of them wait most of the time. */
const PARALLEL = 32;

/** A fourth of the rows. */
const DRAWN = Math.ceil(ROWS.length / 4);

const wanted = process.env.CAUSES;
const all = ROWS.map((row, index) => ({ row, namespace: `row-${index}` }));
const chosen =
  wanted === undefined ? drawOf(all, DRAWN) : all.filter(({ row }) => new RegExp(wanted).test(row.name));

describeOwnStack(
  'causes',
  (getFixture) => {
    const outcomes = new Map<Row, Promise<void>>();
    const notPrepared: unknown[] = [];
    let stop: () => Promise<void>;

    beforeAll(async () => {
      const fixture = getFixture();
      const { roles } = fixture.stack;
      await roles.startFluxion();
      await fixture.stack.startController({
        fluxion: { address: roles.fluxionAddress },
        // The service of these tests is the embedded matcher.
        units: STACK_DEFAULTS.units,
        // Leaves each row time to say why within its 60 s.
        grants: { unschedulableSeconds: 10 },
      });
      const fluxion = connectFluxion({ address: roles.fluxionAddress });
      stop = () => fluxion.close();
      const limiter = new ConcurrencyLimiter(PARALLEL);
      const shapes = chosen.map(({ row, namespace }) =>
        (row.nodes ?? DEFAULT_NODES).map((shape) => owned(shape, namespace)),
      );
      const names = await fixture.stack.cluster.addNodesOf(shapes.flat());
      for (const [i, { row, namespace }] of chosen.entries()) {
        const nodes = names.splice(0, shapes[i]!.length);
        const outcome = limiter.run('normal', '', async () => {
          const preparing = RowCluster.create(fixture, fluxion, namespace, nodes, row);
          preparing.catch((error: unknown) => notPrepared.push(`${row.name}: ${error}`));
          await play(await preparing, row);
        });
        // A row fails in its own test, not before.
        outcome.catch(() => undefined);
        outcomes.set(row, outcome);
      }
    });
    afterAll(() => stop());

    for (const { row } of chosen) {
      const declare = row.open === undefined ? test : test.failing;
      declare(row.name, () => outcomes.get(row)!);
    }

    test('every row has its namespace and its queue, so that an open row fails for its own cause', () => {
      expect(notPrepared).toEqual([]);
    });
  },
  {
    cluster: {
      tuning: { nodeMonitorSeconds: 1 },
      // Pods leave a NotReady node after 5 s instead of 5 minutes.
      apiserverArgs: [
        '--default-not-ready-toleration-seconds=5',
        '--default-unreachable-toleration-seconds=5',
      ],
    },
  },
);

async function play(cluster: RowCluster, row: Row): Promise<void> {
  const started = performance.now();
  try {
    await row.run(cluster);
    report('runs', row, started);
  } catch (error) {
    report(row.open === undefined ? 'FAILS' : 'open', row, started, error);
    throw error;
  } finally {
    await cluster.close();
  }
}

/** Only on request: Jest says nothing about the failure of a row that is expected to fail. */
function report(outcome: string, { name }: Row, started: number, error?: unknown): void {
  if (process.env.CAUSES === undefined) return;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stderr.write(`${outcome} ${seconds}s ${name}${error === undefined ? '' : `\n     ${error}`}\n`);
}
