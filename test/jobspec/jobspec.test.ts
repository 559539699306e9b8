import { askOf, jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../runtime/jobspec/pod';
import type { Jobspec } from '../../runtime/jobspec/types';
import { clusterFacts } from './facts';

const pod: PodSpec = {
  containers: [{ resources: { requests: { cpu: '2', memory: '3Gi' }, limits: { 'nvidia.com/gpu': '1' } } }],
  nodeSelector: { zone: 'a' },
};

test('makes one slot per pod, with units, walltime and constraints', () => {
  expect(jobspecOf({ pod, pods: 4, walltime: 90.5 })).toEqual({
    version: 1,
    resources: [
      {
        type: 'slot',
        count: 4,
        label: 'pod',
        with: [
          { type: 'core', count: 2 },
          { type: 'gpu', count: 1 },
          { type: 'memory', count: 3 },
        ],
      },
    ],
    tasks: [{ command: ['pod'], slot: 'pod', count: { per_slot: 1 } }],
    attributes: {
      system: {
        duration: 90.5,
        constraints: {
          and: [{ properties: ['resource:nvidia.com/gpu'] }, { properties: ['zone=a'] }, { tolerates: [] }],
        },
      },
      user: {
        units: { cpuMillis: 1000, memoryMiB: 1024 },
        requests: { cpu: '2', memory: '3Gi', 'nvidia.com/gpu': '1' },
      },
    },
  });
});

test('gives each pod of an exclusive workload a whole node', () => {
  const jobspec = jobspecOf({ pod: { containers: [{}] }, pods: 3, walltime: 60, exclusive: true });
  expect(jobspec.resources).toEqual([
    {
      type: 'node',
      count: 3,
      exclusive: true,
      with: [{ type: 'slot', count: 1, label: 'pod', with: [{ type: 'core', count: 1 }] }],
    },
  ]);
  expect(jobspec.attributes.system).toEqual({ duration: 60, constraints: { tolerates: [] } });
});

test.each([
  ['pods', { pods: 0 }],
  ['pods', { pods: 1.5 }],
  ['walltime', { walltime: 0 }],
  ['walltime', { walltime: Number.POSITIVE_INFINITY }],
  ['walltime', { walltime: Number.NaN }],
])('refuses an invalid %s: %p', (field, over) => {
  expect(() => jobspecOf({ pod, pods: 1, walltime: 1, ...over })).toThrow(
    expect.objectContaining({ code: 'FLUXQ_JOBSPEC', field }),
  );
});

test('reads the request back from the jobspec', () => {
  const perPod = { core: 2, gpu: 1, memory: 3 };
  expect(askOf(jobspecOf({ pod, pods: 4, walltime: 60 }))).toEqual({ pods: 4, perPod, exclusive: false });
  expect(askOf(jobspecOf({ pod, pods: 4, walltime: 60, exclusive: true }))).toEqual({
    pods: 4,
    perPod,
    exclusive: true,
  });
  const ours = jobspecOf({ pod, pods: 4, walltime: 60 });
  for (const resources of [
    [],
    [{ type: 'core', count: 1 }],
    [{ ...ours.resources[0]!, count: { min: 1 } }],
  ]) {
    expect(() => askOf({ ...ours, resources })).toThrow(expect.objectContaining({ code: 'FLUXQ_JOBSPEC' }));
  }
});

describe('shape', () => {
  const base = jobspecOf({ pod, pods: 4, walltime: 60 });

  test('does not depend on the walltime or the order of keys', () => {
    expect(shapeOf(jobspecOf({ pod, pods: 4, walltime: 7200 }))).toBe(shapeOf(base));
    const { version, resources, tasks, attributes } = base;
    expect(shapeOf({ attributes, tasks, resources, version })).toBe(shapeOf(base));
    expect(shapeOf(JSON.parse(JSON.stringify(base)) as Jobspec)).toBe(shapeOf(base));
  });

  test('depends on everything that decides where the jobspec fits', () => {
    const others = [
      jobspecOf({ pod, pods: 5, walltime: 60 }),
      jobspecOf({ pod, pods: 4, walltime: 60, exclusive: true }),
      jobspecOf({ pod: { ...pod, nodeSelector: { zone: 'b' } }, pods: 4, walltime: 60 }),
      jobspecOf({ pod: { ...pod, containers: [{}] }, pods: 4, walltime: 60 }),
      jobspecOf({ pod, pods: 4, walltime: 60, units: { cpuMillis: 500, memoryMiB: 1024 } }),
    ];
    expect(new Set([base, ...others].map(shapeOf)).size).toBe(6);
  });
});

describe('a pod spec that would take the time of all others', () => {
  const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
  const terms = (count: number) => ({
    containers: [{}],
    affinity: {
      nodeAffinity: {
        [REQUIRED]: {
          nodeSelectorTerms: Array.from({ length: count }, (_, i) => ({
            matchExpressions: [{ key: `k${i}`, operator: 'Exists' }],
          })),
        },
      },
    },
  });
  const make = (spec: PodSpec) => () => jobspecOf({ pod: spec, pods: 1, walltime: 1 });

  test('is refused with the field, the limit and what it has', () => {
    expect(make(terms(50))).not.toThrow();
    expect(make(terms(8000))).toThrow(
      `FLUXQ_TOO_LARGE: spec.template.spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms: ` +
        'must have at most 50 terms (got 8000); choose nodes by fewer labels',
    );
  });

  test('is refused if its jobspec is too long', () => {
    const labels = (count: number) => ({
      containers: [{}],
      nodeSelector: Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'v'.repeat(40)])),
    });
    expect(make(labels(400))).not.toThrow();
    expect(make(labels(1000))).toThrow(
      /^FLUXQ_TOO_LARGE: spec\.template\.spec: must describe its nodes in at most 32768 bytes \(got \d+\); /,
    );
  });

  test('is refused if its comparisons list too many values', () => {
    const nodes = Array.from({ length: 256 }, (_, i) => ({
      metadata: { name: `n${i}`, labels: { size: `${i}` } },
    }));
    const expressions = Array.from({ length: 200 }, (_, i) => ({
      key: 'size',
      operator: 'Gt',
      values: [`${i}`],
    }));
    const spec = {
      containers: [{}],
      affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions: expressions }] } } },
    };
    const cluster = clusterFacts(nodes);
    expect(() => jobspecOf({ pod: spec, pods: 1, walltime: 1, cluster })).toThrow('FLUXQ_TOO_LARGE');
  });
});

test('keeps the requests as Kubernetes writes them, and the sizes of the units', () => {
  const container = (cpu: string, memory: string) => ({ resources: { requests: { cpu, memory } } });
  const jobspec = jobspecOf({
    pod: { containers: [container('0.2', '100Mi'), container('250m', '1100Mi')] },
    pods: 1,
    walltime: 60,
    units: { cpuMillis: 100, memoryMiB: 128 },
  });
  expect(jobspec.attributes.user).toEqual({
    units: { cpuMillis: 100, memoryMiB: 128 },
    requests: { cpu: '450m', memory: '1200Mi' },
  });
  // The total of the pod is rounded once: 450m are 5 units, and not 2 + 3 of its containers and some more.
  expect(askOf(jobspec).perPod).toEqual({ core: 5, memory: 10 });
});

test('names the labels whose values its constraints were made from', () => {
  const required = (operator: string, values: string[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'generation', operator, values }] }],
      },
    },
  });
  const labels = new Map([['generation', new Set(['3', '4'])]]);
  const labelsOf = (operator: string) =>
    jobspecOf({
      pod: { containers: [], affinity: required(operator, ['3']) },
      pods: 1,
      walltime: 60,
      cluster: { labels },
    }).attributes.user?.labels;
  expect(labelsOf('Gt')).toEqual(['generation']);
  expect(labelsOf('In')).toBeUndefined();
});
