import { renderMiniCluster } from '../../../constructs/minicluster';
import { omitUndefined } from '../../../constructs/minicluster/object';
import { workloadSettings } from '../../../runtime/workloads/settings';
import { find, pod, render, workload } from './rendered';

test.each([
  ['01:30:00', '90m'],
  ['1-12:00:00', '36h'],
  ['1-12', '1-12'],
  ['2d', '2d'],
])('a walltime of %s is the label %s, which has no colon', (walltime, label) => {
  const { metadata } = find(render({ walltime }), 'Job');
  expect(metadata.labels?.['fluxqueue/walltime']).toBe(label);
});

describe('the Job', () => {
  test('succeeds with the lead broker and does not count an eviction as a failure', () => {
    expect(workload()).toMatchObject({
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      backoffLimit: 0,
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    });
    expect(pod()).toMatchObject({
      restartPolicy: 'Never',
      subdomain: 'mc',
      automountServiceAccountToken: false,
    });
    expect(pod()).not.toHaveProperty('setHostnameAsFQDN');
  });

  test('restarts the containers of an interactive cluster', () => {
    const job = workload({ interactive: true });
    expect(job).toMatchObject({ backoffLimit: 100 });
    expect(job).not.toHaveProperty('podFailurePolicy');
    expect(job.template.spec.restartPolicy).toBe('OnFailure');
  });

  test('has the same pod template for every size up to maxSize', () => {
    const [four, eight] = [4, 8].map((size) => workload({ size, maxSize: 8 }));
    expect(eight).toMatchObject({ completions: 8, parallelism: 8 });
    expect(eight!.template).toEqual(four!.template);
  });

  test('has no success policy when the brokers join another cluster, because no pod of it leads', () => {
    const leadBroker = { address: 'a', name: 'main', size: 2 };
    expect(workload({ flux: { bursting: { leadBroker } } })).not.toHaveProperty('successPolicy');
  });

  test.each(['Job', 'StatefulSet'] as const)('counts for the user whom admission noted, as a %s', (kind) => {
    const metadata = { name: 'mc', namespace: 'lab', annotations: { 'fluxqueue/user': 'ada', other: 'x' } };
    const spec = { size: 4, containers: [{ image: 'app' }], workload: kind, interactive: true };
    const made = find(renderMiniCluster({ metadata, spec }), kind);
    const template = (made.spec as { template: { metadata: object } }).template.metadata;
    const { annotations } = (kind === 'Job' ? made.metadata : template) as { annotations?: object };
    expect(annotations).toEqual({ 'fluxqueue/user': 'ada' });
  });

  test('ends by its walltime or its deadline, whichever is earlier', () => {
    expect(workload({ walltime: '1h30m' })).toMatchObject({ activeDeadlineSeconds: 5400 });
    expect(workload({ walltime: '90' })).toMatchObject({ activeDeadlineSeconds: 90 });
    expect(workload({ walltime: '1-12:00:00' })).toMatchObject({ activeDeadlineSeconds: 129_600 });
    expect(workload({ walltime: '1h', deadlineSeconds: 60 })).toMatchObject({ activeDeadlineSeconds: 60 });
    expect(workload({ deadlineSeconds: 60 })).toMatchObject({ activeDeadlineSeconds: 60 });
  });

  test.each([undefined, 31_500_000])(
    'with deadline %s has the walltime of its queue, which it leaves to it',
    (deadlineSeconds) => {
      expect(workload(omitUndefined({ deadlineSeconds }))).not.toHaveProperty('activeDeadlineSeconds');
    },
  );

  test('has a suspension only if its user asks for one, because the rest is its queue’s', () => {
    expect(workload({ suspend: true })).toMatchObject({ suspend: true });
    expect(workload({ suspend: false })).not.toHaveProperty('suspend');
  });

  test('has the settings that the queue reads', () => {
    const queue = { queue: 'night', walltime: '1h30m', exclusive: true };
    const low = find(render({ ...queue, priority: -5 }), 'Job').metadata;
    expect(workloadSettings(low)).toMatchObject({
      queue: 'night',
      walltimeSeconds: 5400,
      exclusive: true,
      priority: -5,
    });
    expect(workloadSettings(find(render({ priority: 7 }), 'Job').metadata)).toMatchObject({ priority: 7 });
  });
});

describe('the StatefulSet', () => {
  const persistent = { workload: 'StatefulSet', interactive: true } as const;

  test('starts all pods at once, with the names of the Job’s pods and with their index in the environment', () => {
    const spec = workload(persistent);
    expect(spec).toMatchObject({ replicas: 4, serviceName: 'mc', podManagementPolicy: 'Parallel' });
    expect(spec.template.spec.restartPolicy).toBe('Always');
    expect(spec.template.spec.containers[0]?.env).toEqual([
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
      },
    ]);
    expect(spec.template.metadata.labels).toMatchObject(
      (spec.selector as { matchLabels: Record<string, string> }).matchLabels,
    );
  });

  test('has the settings of the queue on its pods', () => {
    expect(workload({ ...persistent, queue: 'night' }).template.metadata.labels).toMatchObject({
      'fluxqueue/queue': 'night',
    });
  });
});
