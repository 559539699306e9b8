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

/** Samples of five minutes with this value. */
const steady = (series: string, value: number): Series => ({ series, values: `${value}x20` });

interface Situation {
  readonly what: string;
  readonly series: readonly Series[];
  readonly at: string;
  /** Labels of the alert that fires. @default - none fires */
  readonly fires?: Readonly<Record<string, string>>;
}

const DAY = 86_400;
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
};

const program = PROMTOOL.buildOrSkip();

(program === undefined ? describe.skip : describe)('alerts', () => {
  test('each has situations in which it fires, and in which it does not', () => {
    expect(Object.keys(SITUATIONS).sort()).toEqual([...alerts.keys()].sort());
    for (const situations of Object.values(SITUATIONS))
      expect(new Set(situations.map(({ fires }) => fires === undefined))).toEqual(new Set([true, false]));
  });

  test.each(Object.entries(SITUATIONS).flatMap(([alert, all]) => all.map((one) => ({ alert, ...one }))))(
    '$alert: $what',
    ({ alert, series, at, fires }) => {
      const { labels, annotations } = alerts.get(alert)!;
      const expected =
        fires === undefined
          ? []
          : [
              {
                exp_labels: { ...labels, ...fires },
                exp_annotations: {
                  summary: annotations.summary.replace('{{ $labels.kind }}', fires.kind ?? ''),
                },
              },
            ];
      const test: PromTest = {
        interval: '15s',
        input_series: series,
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
      };
      runPromtool(program!, spec, [test]);
    },
  );

  test('a wrong expectation fails', () => {
    const test: PromTest = {
      interval: '15s',
      input_series: [steady('fluxqueue_leader', 1)],
      promql_expr_test: [{ expr: 'count(fluxqueue_leader)', eval_time: '1m', exp_samples: [] }],
    };
    expect(() => runPromtool(program!, spec, [test])).toThrow('promtool test rules');
  });
});
