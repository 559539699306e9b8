/** The alerts fire on samples that they are for, and on no others, by Prometheus' own program. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { find, stackObjects } from '../constructs/manifests';
import { PROMTOOL, type PromTest, runPromtool, type Series } from './promtool';

const PROPS: FluxQueueProps = { monitoringNamespace: 'monitoring', monitoring: {} };

interface Rules {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
}
interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const { spec } = find<Rules>(stackObjects(PROPS), 'PrometheusRule', 'fluxqueue');
const alerts = new Map(spec.groups.flatMap(({ rules }) => rules).map((rule) => [rule.alert, rule]));

/** Samples of fifty minutes with this value. */
const steady = (series: string, value: number): Series => ({ series, values: `${value}x200` });
/** Samples of fifty minutes of a counter, by how much it grows each time. */
const growing = (series: string, by: number): Series => ({ series, values: `0+${by}x200` });

interface Situation {
  readonly what: string;
  readonly series: readonly Series[];
  readonly at: string;
  /** Labels of the alert that fires. @default - none fires */
  readonly fires?: Readonly<Record<string, string>>;
}

const DAY = 86_400;

/** A histogram in which all is within the bucket `good`, and one in which a tenth is only within `bad`. */
function slow(metric: string, { good, bad }: { good: string; bad: string }): readonly Situation[] {
  const buckets = (within: number) => [
    growing(`${metric}_bucket{pod="a",le="${good}"}`, within),
    growing(`${metric}_bucket{pod="a",le="${bad}"}`, 10),
    growing(`${metric}_bucket{pod="a",le="+Inf"}`, 10),
  ];
  return [
    { what: 'all is fast', series: buckets(10), at: '40m' },
    { what: 'a tenth is slow', series: buckets(9), at: '40m', fires: {} },
    { what: 'nothing was measured', series: [steady('up', 1)], at: '40m' },
  ];
}

function failing(metric: string, label: string, value: string): readonly Situation[] {
  const results = (result: string) => growing(`${metric}{${label}="${value}",result="${result}"}`, 1);
  return [
    { what: 'all succeed', series: [results('done')], at: '40m' },
    { what: 'some fail', series: [results('done'), results('failed')], at: '40m', fires: { [label]: value } },
    {
      what: 'one has failed once',
      series: [{ series: `${metric}{${label}="${value}",result="failed"}`, values: '0 1x200' }],
      at: '10m',
    },
  ];
}

const GIB = 2 ** 30;
const volume = (gib: number): Series => ({
  series: 'fluxqueue_database_volume_bytes{pod="a"}',
  values: `${gib * GIB}x400`,
});
/** So large, and larger by so many bytes every 15 s. */
const database = (gib: number, by: number): Series => ({
  series: 'fluxqueue_database_bytes{pod="a",table="events"}',
  values: `${gib * GIB}+${by}x400`,
});

const SITUATIONS: Readonly<Record<string, readonly Situation[]>> = {
  FluxqueueNoLeader: [
    {
      what: 'one leads',
      series: [steady('fluxqueue_leader{pod="a"}', 1), steady('fluxqueue_leader{pod="b"}', 0)],
      at: '4m',
    },
    { what: 'nobody leads', series: [steady('fluxqueue_leader{pod="a"}', 0)], at: '4m', fires: {} },
    {
      what: 'for a moment nobody leads',
      series: [{ series: 'fluxqueue_leader{pod="a"}', values: '1 0 0 0 1x16' }],
      at: '2m',
    },
    { what: 'no controller is seen', series: [steady('up', 1)], at: '4m', fires: {} },
  ],
  FluxqueueNoPass: [
    {
      what: 'a pass every 30 s',
      series: [steady('fluxqueue_leader{pod="a"}', 1), growing('fluxqueue_pass_seconds_count{pod="a"}', 0.5)],
      at: '20m',
    },
    {
      what: 'passes of a new leader only',
      series: [
        steady('fluxqueue_leader{pod="b"}', 1),
        steady('fluxqueue_pass_seconds_count{pod="a"}', 70),
        growing('fluxqueue_pass_seconds_count{pod="b"}', 0.5),
      ],
      at: '20m',
    },
    {
      what: 'a leader whose passes fail',
      series: [steady('fluxqueue_leader{pod="a"}', 1), steady('fluxqueue_pass_seconds_count{pod="a"}', 7)],
      at: '20m',
      fires: {},
    },
    {
      what: 'nobody leads, which another alert says',
      series: [steady('fluxqueue_leader{pod="a"}', 0), steady('fluxqueue_pass_seconds_count{pod="a"}', 7)],
      at: '20m',
    },
  ],
  FluxqueueStartableWaits: [
    { what: 'work is conserved', series: [steady('fluxqueue_startable_workloads{pod="a"}', 0)], at: '40m' },
    {
      what: 'two workloads wait that could start',
      series: [steady('fluxqueue_startable_workloads{pod="a"}', 2)],
      at: '40m',
      fires: {},
    },
    {
      what: 'one look was wrong',
      series: [{ series: 'fluxqueue_startable_workloads{pod="a"}', values: '0 1 1 0x200' }],
      at: '10m',
    },
  ],
  FluxqueueSlowPasses: slow('fluxqueue_pass_seconds', { good: '0.1', bad: '10' }),
  FluxqueueFluxionFails: failing('fluxqueue_fluxion_seconds_count', 'call', 'match'),
  FluxqueueDatabaseFails: failing('fluxqueue_database_seconds_count', 'operation', 'grant'),
  FluxqueueDatabaseSlow: slow('fluxqueue_database_seconds', { good: '0.1', bad: '3' }),
  FluxqueueDatabaseFills: [
    { what: 'it grows slowly', series: [volume(10), database(1, 4096)], at: '90m' },
    { what: 'it grows fast', series: [volume(10), database(1, 2 ** 20)], at: '90m', fires: {} },
    { what: 'it grows fast on a larger volume', series: [volume(100), database(1, 2 ** 20)], at: '90m' },
    { what: 'its volume is not known', series: [volume(0), database(1, 2 ** 20)], at: '90m' },
  ],
  FluxqueuePodLingers: [
    { what: 'every pod ends', series: [steady('up', 1)], at: '20m' },
    {
      what: 'one does not',
      series: [steady('fluxqueue_lingering_pods{pod_namespace="a",pod_name="p",node="n"}', 1)],
      at: '20m',
      fires: { pod_namespace: 'a', pod_name: 'p', node: 'n' },
    },
  ],
  FluxqueueDatabaseFull: [
    { what: 'there is room', series: [volume(10), database(7, 0)], at: '40m' },
    { what: 'little room is left', series: [volume(10), database(9, 0)], at: '40m', fires: {} },
    { what: 'its volume is not known', series: [volume(0), database(9, 0)], at: '40m' },
  ],
  FluxqueueForbidden: [
    {
      what: 'a right is missing',
      series: [growing('fluxqueue_kubernetes_requests_total{verb="PATCH",resource="jobs",status="403"}', 1)],
      at: '30m',
      fires: { verb: 'PATCH', resource: 'jobs' },
    },
    {
      what: 'a few objects in a namespace that is being deleted',
      series: [
        {
          series: 'fluxqueue_kubernetes_requests_total{verb="POST",resource="events",status="403"}',
          values: '0 2 4 4x200',
        },
      ],
      at: '10m',
    },
    {
      what: 'conflicts',
      series: [growing('fluxqueue_kubernetes_requests_total{verb="PATCH",resource="jobs",status="409"}', 1)],
      at: '30m',
    },
  ],
  FluxqueueWatchesFail: [
    {
      what: 'watches of Jobs break',
      series: [growing('fluxqueue_watch_ends_total{resource="jobs",end="failed"}', 1)],
      at: '30m',
      fires: { resource: 'jobs' },
    },
    {
      what: 'nothing changes, so that nothing is heard for minutes',
      series: [growing('fluxqueue_watch_ends_total{resource="priorityclasses",end="silent"}', 1)],
      at: '30m',
    },
    {
      what: 'the apiserver closes watches as usual',
      series: [growing('fluxqueue_watch_ends_total{resource="jobs",end="closed"}', 1)],
      at: '30m',
    },
  ],
  FluxqueueWorkQueueStands: [
    {
      what: 'all runs hang',
      series: [
        steady('fluxqueue_work_queue_depth{pod="a",queue="workloads"}', 9),
        steady('fluxqueue_work_queue_runs_total{pod="a",queue="workloads",outcome="done"}', 50),
      ],
      at: '30m',
      fires: { pod: 'a', queue: 'workloads' },
    },
    {
      what: 'much work, and all of it is done',
      series: [
        steady('fluxqueue_work_queue_depth{pod="a",queue="workloads"}', 900),
        growing('fluxqueue_work_queue_runs_total{pod="a",queue="workloads",outcome="done"}', 10),
      ],
      at: '30m',
    },
    {
      what: 'nothing to do',
      series: [
        steady('fluxqueue_work_queue_depth{pod="a",queue="workloads"}', 0),
        steady('fluxqueue_work_queue_runs_total{pod="a",queue="workloads",outcome="done"}', 50),
      ],
      at: '30m',
    },
  ],
  FluxqueueFluxJobsBehind: slow('fluxqueue_fluxjob_lag_seconds', { good: '30', bad: '100' }),
  FluxqueueSlowAdmission: slow('fluxqueue_admission_seconds', { good: '0.05', bad: '0.25' }),
  FluxqueueRepairs: [
    {
      what: 'nothing differs',
      series: [steady('fluxqueue_repairs_total{kind="fluxion-differs"}', 3)],
      at: '30m',
    },
    {
      what: 'Fluxion differs each minute',
      series: [{ series: 'fluxqueue_repairs_total{kind="fluxion-differs"}', values: '0+0.25x240' }],
      at: '59m',
      fires: { kind: 'fluxion-differs' },
    },
    {
      what: 'an old leader was fenced',
      series: [{ series: 'fluxqueue_repairs_total{kind="other"}', values: '0+1x240' }],
      at: '59m',
    },
  ],
  FluxqueueCertificateExpires: [
    {
      what: 'a new certificate',
      series: [{ series: 'fluxqueue_webhook_certificate_expiry_seconds', values: `${90 * DAY}x300` }],
      at: '70m',
    },
    {
      what: 'one that ends today',
      series: [{ series: 'fluxqueue_webhook_certificate_expiry_seconds', values: `${DAY}x300` }],
      at: '70m',
      fires: {},
    },
  ],
  FluxqueueNoReader: [
    {
      what: 'one of two serves',
      series: [
        steady('fluxqueue_reader_certificate_expiry_seconds{pod="a"}', 90 * DAY),
        steady('fluxqueue_reader_certificate_expiry_seconds{pod="b"}', 0),
      ],
      at: '20m',
    },
    {
      what: 'none has a certificate',
      series: [steady('fluxqueue_reader_certificate_expiry_seconds{pod="a"}', 0)],
      at: '20m',
      fires: {},
    },
    { what: 'none is seen', series: [steady('up', 1)], at: '20m', fires: {} },
    { what: 'none was seen for a moment', series: [steady('up', 1)], at: '9m' },
  ],
  FluxqueueReaderCertificateExpires: [
    {
      what: 'a new certificate, and one that is not made yet',
      series: [
        { series: 'fluxqueue_reader_certificate_expiry_seconds{pod="a"}', values: `${90 * DAY}x300` },
        { series: 'fluxqueue_reader_certificate_expiry_seconds{pod="b"}', values: '0x300' },
      ],
      at: '70m',
    },
    {
      what: 'one of two ends this week',
      series: [
        { series: 'fluxqueue_reader_certificate_expiry_seconds{pod="a"}', values: `${90 * DAY}x300` },
        { series: 'fluxqueue_reader_certificate_expiry_seconds{pod="b"}', values: `${6 * DAY}x300` },
      ],
      at: '70m',
      fires: {},
    },
  ],
};

const program = PROMTOOL.buildOrSkip();

(program === undefined ? describe.skip : describe)('alerts', () => {
  test('each has situations in which it fires, and in which it does not', () => {
    expect(Object.keys(SITUATIONS).sort()).toEqual([...alerts.keys()].sort());
    for (const situations of Object.values(SITUATIONS))
      expect(new Set(situations.map(({ fires }) => fires === undefined))).toEqual(new Set([true, false]));
  });

  test.each(Object.entries(SITUATIONS))('%s fires in its situations and in no other', (alert, situations) => {
    runPromtool(
      program!,
      spec,
      situations.map((situation) => promTestOf(alert, situation)),
    );
  });

  test('a wrong expectation fails', () => {
    const test: PromTest = {
      name: 'wrong',
      interval: '15s',
      input_series: [steady('fluxqueue_leader', 1)],
      promql_expr_test: [{ expr: 'count(fluxqueue_leader)', eval_time: '1m', exp_samples: [] }],
    };
    expect(() => runPromtool(program!, spec, [test])).toThrow('promtool test rules');
  });
});

function promTestOf(alert: string, { what, series, at, fires }: Situation): PromTest {
  const { labels, annotations } = alerts.get(alert)!;
  const shown = (text: string) =>
    text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => fires?.[label] ?? '');
  const expected =
    fires === undefined
      ? []
      : [
          {
            exp_labels: { ...labels, ...fires },
            exp_annotations: { summary: shown(annotations.summary) },
          },
        ];
  return {
    name: what,
    interval: '15s',
    input_series: series,
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
  };
}
