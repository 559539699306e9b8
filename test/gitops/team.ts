/** What a team keeps in Git: its namespace and queue, Jobs that are held, wait, run and end, MiniClusters, and services. */
import { AFTER, HOLD, NAMESPACE_LABEL, WALLTIME } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';

const DURATION = 'fluxqueue.test/duration';

function template(runs: string, cpu = '1') {
  return {
    metadata: { annotations: { [DURATION]: runs } },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'none', resources: { requests: { cpu } } }],
    },
  };
}

const labels = { 'app.kubernetes.io/part-of': 'science' };

/** The objects by file name, without a namespace. */
const NAMESPACED: Readonly<Record<string, object>> = {
  queue: {
    apiVersion: 'flux-framework.org/v1alpha1',
    kind: 'FluxSetup',
    metadata: { name: 'default' },
    spec: { policy: 'easy', quota: { cores: '64' } },
  },
  held: job('held', {}, { annotations: { [HOLD]: 'true' } }),
  suspended: job('suspended', { suspend: true }),
  running: job('running', { suspend: false }),
  waiting: job(
    'waiting',
    { parallelism: 2, completions: 2, completionMode: 'Indexed' },
    { annotations: { [AFTER]: 'running' } },
  ),
  quick: { ...job('quick'), spec: { template: template('100ms') } },
  brokers: miniCluster('brokers', '1h'),
  done: miniCluster('done', '100ms'),
  service: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'service', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'service' } },
      template: {
        metadata: { labels: { app: 'service' } },
        spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }] },
      },
    },
  },
  nightly: {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template('1s') } } },
  },
};

function job(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels, ...metadata },
    spec: { ...spec, template: template('1h') },
  };
}

function miniCluster(name: string, runs: string): object {
  return {
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: { name, labels },
    spec: {
      size: 2,
      maxSize: 4,
      containers: [{ image: 'none', command: 'hostname', resources: { requests: { cpu: '1' } } }],
      pod: { annotations: { [DURATION]: runs } },
    },
  };
}

export type Files = Readonly<Record<string, KubeObject>>;

export function teamFiles(namespace: string): Files {
  const space = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { [NAMESPACE_LABEL]: 'true' } },
  };
  const others = Object.entries(NAMESPACED).map(([file, object]) => {
    const { metadata, ...rest } = object as KubeObject;
    return [`apps/${file}.yaml`, { ...rest, metadata: { ...metadata, namespace } }];
  });
  return { 'apps/0-namespace.yaml': space, ...Object.fromEntries(others) } as Files;
}

/** What both engines say with the project's checks when the file's object has come to rest. */
export type Health = readonly [fluxCd: string, argoCd: string];
const READY: Health = ['Current', 'Healthy'];
export const HELD: Health = ['Current', 'Suspended'];
/** Its pods run. */
export const RUNS: Health = ['InProgress', 'Progressing'];
export const WAITS: Health = ['InProgress', 'Progressing'];

export const AT_REST: Readonly<Record<string, Health>> = {
  queue: READY,
  held: HELD,
  suspended: HELD,
  running: RUNS,
  waiting: WAITS,
  quick: READY,
  brokers: READY,
  done: READY,
  service: READY,
};

export interface Edit {
  readonly title: string;
  readonly file: string;
  /** A JSON merge patch. */
  readonly patch: object;
  /** What becomes of it. @default - as before */
  readonly health?: Health;
}

const relabeled = { metadata: { labels: { tier: 'gold' } } };

/** Each is a commit of its own; the last are taken back together. */
export const EDITS: readonly Edit[] = [
  { title: 'remove the hold', file: 'held', patch: { metadata: { annotations: null } }, health: RUNS },
  { title: 'remove suspend: true', file: 'suspended', patch: { spec: { suspend: null } }, health: RUNS },
  { title: 'add suspend: true', file: 'running', patch: { spec: { suspend: true } }, health: HELD },
  { title: 'ask for more time', file: 'waiting', patch: { metadata: { annotations: { [WALLTIME]: '2h' } } } },
  { title: 'ask for more cores', file: 'waiting', patch: { spec: { template: template('1h', '2') } } },
  { title: 'label a waiting Job', file: 'waiting', patch: relabeled },
  { title: 'label a running Job', file: 'held', patch: relabeled },
  { title: 'label a MiniCluster', file: 'brokers', patch: relabeled },
  { title: 'grow a MiniCluster', file: 'brokers', patch: { spec: { size: 3 } } },
  { title: 'lower the quota', file: 'queue', patch: { spec: { quota: { cores: '48' } } } },
  { title: 'label a Deployment', file: 'service', patch: relabeled },
];

/** What the last commits' revert changes, beside what was as before. */
export const REVERTED: Readonly<Record<string, Health>> = { held: RUNS, suspended: HELD, running: RUNS };

/** A JSON merge patch (RFC 7396). */
export function patched<T>(target: T, patch: object): T {
  const result = { ...(target as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === 'object' && !Array.isArray(value))
      result[key] = patched(result[key] ?? {}, value);
    else result[key] = value;
  }
  return result as T;
}
