/** What a stack has for operators that a cluster may have: cert-manager, Prometheus, Vertical Pod Autoscaler; and its FlowSchemas. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { type FluxQueueProps, WebhookCertificate } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/api';
import { configurationOf, container, find, names, podTemplates, stackObjects } from '../manifests';

const ofKind = (objects: readonly KubeObject[], kind: string) => objects.filter((each) => each.kind === kind);

describe('a certificate of cert-manager', () => {
  const objects = stackObjects({ webhookCertificate: WebhookCertificate.certManager(), namespace: 'batch' });

  test('is issued for the names of the Service by a CA of the stack', () => {
    const certificate = find(objects, 'Certificate', 'fluxqueue-webhook-certificate');
    expect(certificate.spec).toMatchObject({
      dnsNames: expect.arrayContaining(['fluxqueue-webhook.batch.svc']),
      issuerRef: { kind: 'Issuer', name: 'fluxqueue-webhook-ca' },
    });
    expect(names([...ofKind(objects, 'Issuer'), ...ofKind(objects, 'Certificate')])).toEqual([
      'Issuer/fluxqueue-webhook-ca-root',
      'Issuer/fluxqueue-webhook-ca',
      'Certificate/fluxqueue-webhook-ca',
      'Certificate/fluxqueue-webhook-certificate',
    ]);
  });

  test('is read from files by a webhook without rights and token, and trusted by injection', () => {
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-webhook')!;
    const { volumeMounts = [] } = container(template, 'webhook');
    expect(volumeMounts.map(({ name }) => name)).toEqual(['config', 'certificate']);
    expect(volumeMounts[1]!.mountPath).toBe(configurationOf(objects).webhook.certDir);
    expect(template.spec.volumes).toContainEqual({
      name: 'certificate',
      secret: { secretName: 'fluxqueue-webhook-certificate' },
    });
    expect(names(objects).filter((name) => /Role.*fluxqueue-webhook$|Secret\/.*webhook/.test(name))).toEqual(
      [],
    );
    expect(find(objects, 'MutatingWebhookConfiguration', 'fluxqueue').metadata.annotations).toMatchObject({
      'cert-manager.io/inject-ca-from': 'batch/fluxqueue-webhook-certificate',
    });
  });

  test('comes from an issuer of the cluster if one is given', () => {
    const issuer = { name: 'internal', kind: 'ClusterIssuer' };
    const objects = stackObjects({ webhookCertificate: WebhookCertificate.certManager({ issuer }) });
    expect(ofKind(objects, 'Issuer')).toEqual([]);
    expect(ofKind(objects, 'Certificate').map(({ spec }) => spec)).toMatchObject([
      { issuerRef: { ...issuer, group: 'cert-manager.io' } },
    ]);
  });
});

describe('monitoring', () => {
  const ALL: FluxQueueProps = {
    monitoringNamespace: 'monitoring',
    monitoring: { interval: Duration.seconds(15), labels: { release: 'prometheus' } },
  };
  const objects = stackObjects(ALL);

  test('reads the ports of all pods with metrics', () => {
    const { metadata, spec } = find<KubeObject & { spec: PodMonitor }>(objects, 'PodMonitor', 'fluxqueue');
    expect(metadata.labels).toMatchObject({ release: 'prometheus' });
    const ports = podTemplates(objects)
      .filter(({ metadata: { labels } }) =>
        Object.entries(spec.selector.matchLabels).every(([name, value]) => labels[name] === value),
      )
      .flatMap((template) => template.spec.containers.flatMap((each) => each.ports ?? []));
    const metrics = [...new Set(ports.flatMap(({ name = '' }) => (name.includes('metrics') ? [name] : [])))];
    expect(spec.podMetricsEndpoints).toEqual(metrics.map((port) => ({ port, interval: '15s' })));
  });

  test('alerts on metrics that the runtime has, and on nothing of a webhook that is not there', () => {
    const rules = (props: FluxQueueProps) =>
      find<{ spec: { groups: { rules: { alert: string; expr: string }[] }[] } }>(
        stackObjects(props),
        'PrometheusRule',
        'fluxqueue',
      ).spec.groups.flatMap((group) => group.rules);
    const known = readdirSync(join(__dirname, '../../../runtime'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(__dirname, '../../../runtime', file), 'utf8'))
      .join();
    const used = rules(ALL)
      .flatMap(({ expr }) => expr.match(/fluxqueue_\w+/g) ?? [])
      .map((metric) => metric.replace(/_(bucket|count)$/, ''));
    expect(used.length).toBeGreaterThan(2);
    expect(used.filter((metric) => !known.includes(`'${metric}'`))).toEqual([]);
    const alerts = (props: FluxQueueProps) => rules(props).map(({ alert }) => alert);
    const withoutWebhook = alerts({ ...ALL, kubernetesVersion: '1.37' });
    expect(alerts(ALL).filter((alert) => !withoutWebhook.includes(alert))).toEqual([
      'FluxqueueSlowAdmission',
      'FluxqueueCertificateExpires',
    ]);
    const withoutReader = alerts({ ...ALL, readApi: false });
    expect(alerts(ALL).filter((alert) => !withoutReader.includes(alert))).toEqual([
      'FluxqueueNoReader',
      'FluxqueueReaderCertificateExpires',
    ]);
  });

  test('shows a dashboard, whose panels do not overlap', () => {
    const dashboard = (props: FluxQueueProps) => {
      const { metadata, data } = find<KubeObject & { data: Record<string, string> }>(
        stackObjects(props),
        'ConfigMap',
        'fluxqueue-dashboard',
      );
      expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
      return JSON.parse(data['fluxqueue.json']!) as {
        panels: { id: number; title: string; gridPos: { x: number; y: number; w: number; h: number } }[];
      };
    };
    const { panels } = dashboard(ALL);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    expect(panels.map(({ title }) => title)).toContain('Admission');
    expect(dashboard({ ...ALL, kubernetesVersion: '1.37' }).panels.map(({ title }) => title)).not.toContain(
      'Admission',
    );
    const without = stackObjects({ ...ALL, monitoring: { dashboard: false } });
    expect(ofKind(without, 'ConfigMap').map(({ metadata }) => metadata.name)).not.toContain(
      'fluxqueue-dashboard',
    );
  });

  test('recommends requests for what the stack runs, and changes nothing', () => {
    const found = ofKind(stackObjects({ verticalPodAutoscalers: true }), 'VerticalPodAutoscaler');
    const targets = found.map(
      ({ spec }) => (spec as { targetRef: { kind: string; name: string } }).targetRef,
    );
    expect(targets.map(({ kind, name }) => `${kind}/${name}`).sort()).toEqual(
      podTemplates(stackObjects())
        .map(({ owner }) => `${owner === 'fluxqueue-database' ? 'StatefulSet' : 'Deployment'}/${owner}`)
        .sort(),
    );
    expect(found.map(({ spec }) => spec)).toMatchObject(
      found.map(() => ({ updatePolicy: { updateMode: 'Off' } })),
    );
  });
});

interface PodMonitor {
  readonly selector: { readonly matchLabels: Record<string, string> };
  readonly podMetricsEndpoints: readonly { readonly port: string }[];
}

describe('flow schemas', () => {
  test('have every ServiceAccount of the stack that calls the apiserver often, and can be left out', () => {
    const objects = stackObjects();
    const subjects = ofKind(objects, 'FlowSchema').map(({ spec }) =>
      (spec as { rules: { subjects: k8s.SubjectV1Beta3[] }[] }).rules.flatMap((rule) =>
        rule.subjects.map(({ serviceAccount }) => serviceAccount?.name),
      ),
    );
    expect(subjects).toEqual([
      ['fluxqueue-controller', 'fluxqueue-scheduler'],
      ['fluxqueue-controller', 'fluxqueue-scheduler', 'fluxqueue-webhook'],
    ]);
    expect(ofKind(stackObjects({ flowSchemas: false }), 'FlowSchema')).toEqual([]);
  });
});

test.each<[FluxQueueProps, string]>([
  [{ monitoring: {} }, 'FluxQueue.monitoring: requires monitoringNamespace'],
  [
    { monitoringNamespace: 'm', monitoring: { interval: Duration.millis(1500) } },
    'FluxQueue.monitoring.interval: must be a whole number of seconds',
  ],
  [
    { kubernetesVersion: '1.37', webhookCertificate: WebhookCertificate.certManager() },
    'FluxQueue.webhookCertificate: requires admission by webhook',
  ],
  [
    { externalRuntime: { users: ['admin'] }, admission: 'policies', verticalPodAutoscalers: true },
    'FluxQueue.verticalPodAutoscalers: has no effect',
  ],
])('%j is refused', (props, message) => {
  expect(() => stackObjects(props)).toThrow(message);
});
