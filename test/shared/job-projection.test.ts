import { InternPool } from '../../runtime/intern';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Job } from '../../runtime/kubernetes/types';
import { projectJob } from '../../runtime/shared/job-projection';
import { jobAdapter } from '../../runtime/workloads/job';
import { rowIn } from '../queue/rows';
import { metadata } from './fake-informer';

const selector = { matchLabels: { app: 'solver' } };
const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** A template with every field by which nodes are chosen, and much else. */
const POD = {
  activeDeadlineSeconds: 60,
  affinity: {
    nodeAffinity: {
      [required]: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }],
      },
    },
    podAffinity: {
      [required]: [
        { topologyKey: 'rack', labelSelector: selector, namespaceSelector: { matchLabels: { team: 'x' } } },
      ],
    },
    podAntiAffinity: { [required]: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: selector }] },
  },
  containers: [
    {
      name: 'main',
      image: 'solver:1',
      command: ['solve'],
      args: ['--fast'],
      env: [{ name: 'SECRET', value: 'x'.repeat(1_000) }],
      ports: [{ containerPort: 80, hostPort: 80 }],
      resources: {
        requests: { cpu: '2', memory: '3Gi', 'example.com/fpga': '1' },
        limits: { 'nvidia.com/gpu': 1 },
      },
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
  initContainers: [{ name: 'sidecar', restartPolicy: 'Always', resources: { requests: { cpu: '250m' } } }],
  nodeName: 'node-3',
  nodeSelector: { disk: 'ssd' },
  overhead: { cpu: '100m' },
  priorityClassName: 'high',
  resourceClaims: [{ name: 'claim', resourceClaimName: 'claim' }],
  runtimeClassName: 'kata',
  schedulerName: 'other-scheduler',
  serviceAccountName: 'solver',
  schedulingGates: [{ name: 'example.com/gate' }],
  terminationGracePeriodSeconds: 600,
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
  topologySpreadConstraints: [
    { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'disk', rbd: { monitors: [] } },
    { name: 'code', configMap: { name: 'code' } },
  ],
};

const FULL = {
  metadata: metadata('solve', {
    namespace: 'science',
    generation: 3,
    labels: { app: 'solver', 'fluxqueue/admitted': 'true' },
    annotations: {
      'fluxqueue/walltime': '1h',
      'fluxqueue/gang-size': '2',
      note: 'kept, because a release tests it',
    },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'u', controller: true }],
  }),
  spec: {
    suspend: true,
    parallelism: 4,
    completions: 8,
    completionMode: 'Indexed',
    backoffLimit: 3,
    activeDeadlineSeconds: 90,
    manualSelector: true,
    selector,
    template: { metadata: { labels: { app: 'solver' }, annotations: { a: 'b' } }, spec: POD },
  },
  status: {
    active: 1,
    succeeded: 2,
    terminating: 3,
    ready: 1,
    startTime: '2026-01-01T00:00:00Z',
    uncountedTerminatedPods: {},
    conditions: [
      { type: 'Suspended', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      {
        type: 'Failed',
        status: 'True',
        reason: 'DeadlineExceeded',
        message: 'late',
        lastTransitionTime: '2026-01-01T00:01:00Z',
      },
    ],
  },
} as unknown as Job;

const ROW = rowIn('Ready', { uid: FULL.metadata.uid, pods: 2 });

/** All that the queue asks of a Job. */
const ANSWERS: readonly (keyof typeof jobAdapter)[] = [
  'isSuspended',
  'canRelease',
  'startTimePatch',
  'isReleasedOnto',
  'outcome',
  'finishedNodes',
  'missingPods',
  'unseenPods',
  'releasePatch',
  'suspendPatch',
  'recordedGrant',
];

function answersOf(job: Parameters<typeof jobAdapter.demand>[0]) {
  const ask = (question: keyof typeof jobAdapter) =>
    (jobAdapter[question] as (job: object, ...more: unknown[]) => unknown)(
      job,
      ...(['outcome', 'unseenPods'].includes(question) ? [[], 0] : [ROW, []]),
    );
  const { podSets, ...demand } = jobAdapter.demand(job);
  const [{ spec, ...podSet }] = podSets;
  const jobspec = jobspecOf({
    pod: spec,
    pods: podSet.count,
    walltime: 60,
    self: { namespace: 'science', labels: podSet.labels },
  });
  return {
    ...Object.fromEntries(ANSWERS.map((name) => [name, ask(name)])),
    demand,
    podSet,
    jobspec,
    shape: shapeOf(jobspec),
  };
}

describe('a projected Job', () => {
  const pool = new InternPool();

  test.each<[string, Job]>([
    ['waits', FULL],
    ['runs', { ...FULL, spec: { ...FULL.spec, suspend: false } }],
    [
      'has no template metadata',
      { ...FULL, spec: { ...FULL.spec, template: { spec: FULL.spec.template.spec } } },
    ],
    ['has no status', { metadata: FULL.metadata, spec: FULL.spec }],
  ])('gives the same answers as the whole one if it %s', (_, job) => {
    expect(answersOf(projectJob(job, pool))).toEqual(answersOf(job));
  });

  test('keeps what webhooks of the cluster may add a sidecar by', () => {
    const { template } = projectJob(FULL, pool).spec;
    expect(template.metadata).toEqual({ labels: { app: 'solver' }, annotations: { a: 'b' } });
    expect(template.spec.serviceAccountName).toBe('solver');
  });

  test('keeps neither environment nor arguments nor conditions that end nothing', () => {
    const text = JSON.stringify(projectJob(FULL, pool));
    for (const left of ['SECRET', '--fast', 'volumeMounts', 'backoffLimit', 'uncounted'])
      expect(text).not.toContain(left);
  });

  test('keeps that it is suspended only of a Job that has started: a million wait that have not', () => {
    const { startTime: _, ...status } = FULL.status!;
    const types = (job: Job) => projectJob(job, pool).status?.conditions?.map(({ type }) => type);
    expect(types(FULL)).toEqual(['Failed', 'Suspended']);
    expect(types({ ...FULL, status })).toEqual(['Failed']);
  });

  test('shares its pod spec with other Jobs of the manifest, whatever their environments', () => {
    const { nodeName: _, ...pod } = POD;
    const [a, b] = ['1', '2'].map((value) => {
      const containers = [{ ...POD.containers[0], env: [{ name: 'TASK', value }] }];
      const spec = { ...pod, containers } as unknown as Job['spec']['template']['spec'];
      return projectJob({ ...FULL, spec: { ...FULL.spec, template: { spec } } }, pool);
    });
    expect(a!.spec.template.spec).toBe(b!.spec.template.spec);
  });

  test('says that it was large as a whole', () => {
    const annotations = { note: 'x'.repeat(200_000) };
    expect(projectJob(FULL, pool).isLarge).toBeUndefined();
    expect(projectJob({ ...FULL, metadata: { ...FULL.metadata, annotations } }, pool).isLarge).toBe(true);
  });
});
