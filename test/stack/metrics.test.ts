/** The metrics of a stack at work, and the dashboard on them. */
import { SECTIONS } from '../../constructs/fluxqueue/dashboard';
import { jobs } from '../../runtime/kubernetes/paths';
import { waitFor } from '../cluster/wait';
import { checkAnswers, PROMTOOL, seriesOf } from '../monitoring/promtool';
import { controllerRegistry, metricsOf, webhookRegistry } from '../observability/metrics-table';
import { describeStack } from './suite';
import { Namespace, UNTIL_ENDED } from './workloads';

const PANELS = SECTIONS.flatMap(({ panels }) => panels);
const QUERIES = PANELS.flatMap(({ title, queries }) => queries.map(({ expr }) => ({ title, expr })));

/**
 * What has no series before it happens for the first time, what is measured every ten minutes, and the webhook, which is not there:
 * both-forms.test.ts has one.
 */
const RARE = [
  'fluxqueue_repairs_total',
  'fluxqueue_watch_ends_total',
  'fluxqueue_invalid_workloads_total',
  'outcome="failed"',
  'fluxqueue_database_bytes',
  'fluxqueue_database_volume_bytes > 0',
  'fluxqueue_lingering_pods',
  'fluxqueue_admission_seconds',
];

test('every query of the dashboard names metrics that exist, and every metric but those for debugging is on it', () => {
  const known = [...metricsOf(controllerRegistry()), ...metricsOf(webhookRegistry())].map(({ name }) => name);
  const used = QUERIES.flatMap(({ expr }) => expr.match(/fluxqueue_\w+/g) ?? []).map((name) =>
    name.replace(/_(bucket|count)$/, ''),
  );
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
  expect(known.filter((name) => !used.includes(name))).toEqual([
    'fluxqueue_leader_pending',
    'fluxqueue_standby_warm',
    'fluxqueue_webhook_certificate_expiry_seconds',
  ]);
});

describeStack(
  'metrics',
  (getFixture) => {
    test('each panel of the dashboard shows data', async () => {
      const { stack } = getFixture();
      const controller = await stack.startController();
      const science = await Namespace.create(getFixture, 'science');
      const before = await controller.metrics();
      // One runs, one has a promised start, one passes it, and one is suspended by its user while it runs.
      const wall = (seconds: number) => ({ 'fluxqueue/walltime': `${seconds}s` });
      const first = await science.job('first', { cores: 3, runs: UNTIL_ENDED, annotations: wall(3600) });
      await science.phase(first, 'Running');
      const wide = await science.job('wide', { cores: 4, runs: '300ms', annotations: wall(10) });
      await science.phase(wide, 'Waiting', 'Reserved');
      const small = await science.job('small', { cores: 1, runs: '300ms', annotations: wall(60) });
      await science.phase(small, 'Finished');
      await science.end(first);
      await science.phase(wide, 'Finished');
      const waits = await science.job('waits', { cores: 99 });
      await science.phase(waits, 'Waiting', 'Unsatisfiable');
      const held = await science.job('held', { cores: 4, runs: UNTIL_ENDED });
      await science.phase(held, 'Running');
      await getFixture().client.patch(jobs('science', 'held'), { spec: { suspend: true } }, 'merge');
      await waitFor('the suspended Job to be requeued', async () =>
        /^fluxqueue_requeues_total\{cause="suspended"\} 1$/m.test(await controller.metrics()),
      );
      await science.phase(held, 'Waiting', 'Held');
      const again = await science.job('again', { cores: 1, runs: UNTIL_ENDED });
      await science.phase(again, 'Running');
      const after = await waitFor('the gauges to show it', async () => {
        const page = await controller.metrics();
        return /^fluxqueue_queue_held\{.*resource="cpu".*\} 1$/m.test(page) &&
          page.includes('reason="Unsatisfiable"')
          ? page
          : undefined;
      });
      expect(after).toMatch(/^fluxqueue_resource\{resource="cpu",unit="core",state="allocatable"\} 4$/m);
      expect(after).toMatch(/^fluxqueue_resource\{resource="cpu",unit="core",state="granted"\} 1$/m);
      expect(after).toMatch(/^fluxqueue_backfilled_total 1$/m);
      expect(after).toMatch(/^fluxqueue_estimate_error_seconds_count 1$/m);
      expect(after).toMatch(/^fluxqueue_startable_workloads 0$/m);
      expect(after).toMatch(/^fluxqueue_fluxion_seconds_count\{call="match",result="RESERVED"\} [1-9]/m);
      const program = PROMTOOL.built;
      if (program === undefined) {
        process.stderr.write(
          'skipped: the queries of the dashboard (test/monitoring/alerts builds promtool)\n',
        );
        return;
      }
      const series = seriesOf('controller', before, after);
      const shown = QUERIES.filter(({ expr }) => !RARE.some((name) => expr.includes(name)));
      expect(shown.length).toBeGreaterThan(25);
      checkAnswers(program, series, shown);
    });
  },
  { nodes: 1, nodeShape: { cpu: '4', memory: '64Gi' } },
);
