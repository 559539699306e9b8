import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, Testing } from 'cdk8s';
import { defaultStack, FluxQueue, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { Wave } from '../../../constructs/metadata';
import type { KubeObject } from '../../cluster/api';
import { find, LARGEST_STACK, names, podTemplates, stackObjects } from '../manifests';

const CLUSTER_SCOPED = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'FlowSchema',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'PriorityClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'APIService',
]);
/** Accounts that read how the apiserver names users. */
const IN_KUBE_SYSTEM = new Set<string | undefined>(['fluxqueue-scheduler', 'fluxqueue-reader']);

const VARIANTS: [string, FluxQueueProps][] = [
  ['the defaults', {}],
  ['all options', LARGEST_STACK],
  ['another namespace', { namespace: 'batch', scheduler: true, kubernetesVersion: '1.34' }],
  ['an external runtime', { externalRuntime: { webhookUrl: 'https://127.0.0.1:9443', users: ['admin'] } }],
];

/** The password in a URL; `undefined` has none. */
const passwordIn = (url: string | undefined) => URL.parse(url ?? '')?.password ?? '';

describe.each(VARIANTS)('the objects of the stack with %s', (_, props) => {
  const objects = stackObjects(props);
  const namespace = props.namespace ?? 'fluxqueue-system';

  test('have unique names', () => {
    const keys = objects.map(
      ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.namespace}/${metadata.name}`,
    );
    expect(keys).toEqual([...new Set(keys)]);
  });

  test('have a sync wave', () => {
    const without = objects.filter(
      ({ metadata }) => !/^-?\d$/.test(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? ''),
    );
    expect(names(without)).toEqual([]);
  });

  test('have a namespace if their kind is namespaced, and only then', () => {
    for (const { kind, metadata } of objects) {
      const expected = CLUSTER_SCOPED.has(kind)
        ? undefined
        : IN_KUBE_SYSTEM.has(metadata.name) && metadata.namespace === 'kube-system'
          ? 'kube-system'
          : namespace;
      expect([kind, metadata.name, metadata.namespace]).toEqual([kind, metadata.name, expected]);
    }
  });

  test('contain no secret', () => {
    for (const secret of objects.filter(({ kind }) => kind === 'Secret')) {
      expect(Object.keys(secret)).toEqual(expect.not.arrayContaining(['data', 'stringData']));
    }
    for (const { env = [] } of podTemplates(objects).flatMap(({ spec }) => spec.containers)) {
      for (const { name, value } of env) {
        if (/PASSWORD$|SECRET|TOKEN/.test(name)) expect([name, value]).toEqual([name, undefined]);
        if (/URL/.test(name)) expect([name, passwordIn(value)]).toEqual([name, '']);
      }
    }
  });

  test('refer to no other namespace', () => {
    if (namespace !== 'fluxqueue-system') expect(JSON.stringify(objects)).not.toContain('fluxqueue-system');
  });
});

/** Without them the controller has more rights than it should. */
const BEFORE_RIGHTS = ['fluxqueue-guard-evictions', 'fluxqueue-guard-release-statuses'];

describe('order', () => {
  const wave = (object: KubeObject) =>
    Number(object.metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? Number.NaN);

  test('applies admission in a later wave than the webhook', () => {
    const objects = stackObjects();
    const admission = objects.filter(({ kind }) => /Admission|WebhookConfiguration/.test(kind));
    for (const object of admission.filter(({ metadata }) => !BEFORE_RIGHTS.includes(metadata.name ?? ''))) {
      expect([object.metadata.name, wave(object)]).toEqual([object.metadata.name, Wave.ADMISSION]);
    }
    expect(wave(find(objects, 'MutatingWebhookConfiguration', 'fluxqueue'))).toBeGreaterThan(
      wave(find(objects, 'Deployment', 'fluxqueue-webhook')),
    );
  });

  test('applies what restricts the creation of pods to dry runs before the right to create them', () => {
    const objects = stackObjects();
    const role = wave(find(objects, 'ClusterRole', 'fluxqueue-controller'));
    for (const kind of ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'])
      for (const name of BEFORE_RIGHTS) expect(wave(find(objects, kind, name))).toBeLessThan(role);
  });

  test('applies CRDs, RBAC and database before the controller', () => {
    const objects = stackObjects();
    const order = [
      find(objects, 'CustomResourceDefinition', 'fluxjobs.jobs.converged-computing.org'),
      find(objects, 'ClusterRole', 'fluxqueue-controller'),
      find(objects, 'StatefulSet', 'fluxqueue-database'),
      find(objects, 'Deployment', 'fluxqueue-controller'),
    ].map(wave);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order).size).toBe(4);
  });

  test('names the files in the order in which kubectl applies them', () => {
    const app = new App();
    defaultStack(app, LARGEST_STACK);
    expect(app.charts.map((chart) => chart.node.path)).toEqual([
      'fluxqueue-0-base',
      'fluxqueue-1-rbac',
      'fluxqueue-2-database',
      'fluxqueue-3-controller',
      'fluxqueue-5-scheduler',
      'fluxqueue-6-admission',
      'fluxqueue-7-reader',
    ]);
  });

  test('adds all objects to an enclosing chart in the same order', () => {
    const chart = new Chart(new App(), 'platform');
    new FluxQueue(chart, 'queue');
    expect(names(Testing.synth(chart) as KubeObject[])).toEqual(names(stackObjects()));
  });
});

describe('synth', () => {
  const written = (props: FluxQueueProps): [string, string][] => {
    const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-synth-'));
    try {
      const app = new App({ outdir });
      defaultStack(app, props);
      app.synth();
      return readdirSync(outdir).map((file) => [file, readFileSync(join(outdir, file), 'utf8')]);
    } finally {
      rmSync(outdir, { recursive: true });
    }
  };

  test.each(VARIANTS)('writes the same bytes every time with %s', (_, props) => {
    const first = written(props);
    expect(first.length).toBeGreaterThan(2);
    expect(written(props)).toEqual(first);
  });

  test('writes the manifests of the snapshot for the largest stack', () => {
    // CRDs and admission policies have their own tests.
    const own = stackObjects(LARGEST_STACK).filter(
      ({ kind }) => !/^CustomResource|AdmissionPolicy/.test(kind),
    );
    expect(own).toMatchSnapshot();
  });
});
