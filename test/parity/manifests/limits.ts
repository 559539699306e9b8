/** What a namespace gives pods, or takes from them: LimitRanges, ResourceQuotas, containers that a policy adds. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import { deployment, job, pod, type Shape, statefulSet } from '../../stack/manifests';
import type { Case, Outcome, Step } from '../case';

const bare = { resources: {} };
const NON_INDEXED = { completionMode: 'NonIndexed' };

const limitRange = (limits: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'defaults' },
  spec: { limits: [{ type: 'Container', ...limits }] },
});

const quota = (hard: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'small' },
  spec: { hard },
});

type Make = (name: string, shape: Shape) => KubeObject;

const limited = (
  name: string,
  limits: object,
  [make, shape]: readonly [Make, Shape],
  expected: Partial<Outcome>,
): Case => ({
  name,
  before: () => [limitRange(limits)],
  manifests: () => [make(name, shape)],
  expected,
});

const two = { defaultRequest: { cpu: '2' } };
const three = { defaultRequest: { cpu: '3' } };

const LIMIT_RANGES: readonly Case[] = [
  limited('range-job', three, [job, { pods: 4, container: bare }], { running: 4, nodes: 4, zones: 2 }),
  limited('range-wide', two, [job, { pods: 10, container: bare }], { running: 8, nodes: 4, zones: 2 }),
  limited('range-ends', two, [job, { pods: 10, container: bare, runs: '2s' }], { succeeded: 10 }),
  limited('range-limit', { default: { cpu: '3' } }, [job, { pods: 4, container: bare }], {
    running: 4,
    nodes: 4,
  }),
  limited('range-memory', { max: { memory: '4Gi' } }, [job, { pods: 20, container: bare }], {
    running: 16,
    nodes: 4,
  }),
  limited('range-given', three, [job, { pods: 2, requests: { cpu: '1' } }], { running: 2 }),
  limited('range-own-limit', three, [job, { pods: 2, container: { resources: { limits: { cpu: '3' } } } }], {
    running: 2,
    nodes: 2,
  }),
  limited('range-too-small', { min: { cpu: '2' } }, [job, { requests: { cpu: '1' } }], {}),
  limited('range-too-large', { max: { cpu: '2' } }, [job, { requests: { cpu: '3' } }], {}),
  limited('range-deployment', three, [deployment, { pods: 3, container: bare }], { running: 3, nodes: 3 }),
  limited('range-set', three, [statefulSet, { pods: 3, container: bare }], { running: 3, nodes: 3 }),
  limited('range-pod', three, [pod, { container: bare }], { running: 1 }),
  limited(
    'range-containers',
    { defaultRequest: { cpu: '1500m' } },
    [
      job,
      {
        pods: 3,
        pod: {
          containers: [
            { name: 'main', image: 'none' },
            { name: 'helper', image: 'none' },
          ],
        },
      },
    ],
    { running: 3, nodes: 3 },
  ),
];

const counted = (
  name: string,
  hard: Readonly<Record<string, string>>,
  [make, shape]: readonly [Make, Shape],
  expected: Partial<Outcome>,
  steps: readonly Step[] = [],
): Case => ({
  name,
  before: () => [quota(hard)],
  manifests: () => [make(name, shape)],
  expected,
  steps,
});

const change = (hard: Readonly<Record<string, string>>, expected: Partial<Outcome>): Step => ({
  patch: ['v1', 'resourcequotas', 'small', { spec: { hard } }],
  expected,
});

const eight = { pods: 4, runs: '5s', spec: { completions: 8 } };

const QUOTAS: readonly Case[] = [
  counted('quota-pods', { pods: '2' }, [job, { pods: 3 }], { running: 2 }),
  counted('quota-cores', { 'requests.cpu': '5' }, [job, { pods: 3, requests: { cpu: '2' } }], { running: 2 }),
  counted('quota-waves', { pods: '2' }, [job, { pods: 4, runs: '2s', spec: { completions: 8 } }], {
    succeeded: 8,
  }),
  counted('quota-raised', { pods: '2' }, [job, { pods: 3 }], { running: 2 }, [
    change({ pods: '8' }, { running: 3 }),
  ]),
  counted('quota-lowered', { pods: '4' }, [job, eight], { running: 4 }, [
    change({ pods: '3' }, { succeeded: 8 }),
  ]),
  counted(
    'quota-lowered-non-indexed',
    { pods: '4' },
    [job, { ...eight, spec: { ...NON_INDEXED, completions: 8 } }],
    { running: 4 },
    [change({ pods: '3' }, { succeeded: 8 })],
  ),
  counted('quota-below-usage', { pods: '4' }, [job, { pods: 3 }], { running: 3 }, [
    change({ pods: '1' }, { running: 3 }),
  ]),
  counted('quota-deployment', { pods: '2' }, [deployment, { pods: 3 }], { running: 2 }),
  counted('quota-set', { pods: '2' }, [statefulSet, { pods: 3 }], { running: 2 }),
];

/** Adds a container with this request to each pod of the namespace, as service meshes do. */
const sidecar =
  (cpu: string) =>
  (namespace: string): readonly KubeObject[] => {
    const name = `sidecars-${namespace}`;
    const container = `Object.spec.containers{name: "sidecar", image: "none", resources: Object.spec.containers.resources{requests: {"cpu": "${cpu}"}}}`;
    const expression = `[JSONPatch{op: "add", path: "/spec/containers/-", value: ${container}}]`;
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
    const api = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
    return [
      {
        ...api,
        kind: 'MutatingAdmissionPolicy',
        spec: {
          failurePolicy: 'Fail',
          reinvocationPolicy: 'Never',
          matchConstraints: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
            resourceRules: [rule],
          },
          mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
        },
      },
      { ...api, kind: 'MutatingAdmissionPolicyBinding', spec: { policyName: name } },
    ];
  };

const injected = (
  name: string,
  cpu: string,
  [make, shape]: readonly [Make, Shape],
  expected: Partial<Outcome>,
): Case => ({ name, before: sidecar(cpu), manifests: () => [make(name, shape)], expected });

const cores = { requests: { cpu: '2' } };

const SIDECARS: readonly Case[] = [
  injected('sidecar-job', '1', [job, { requests: { cpu: '3' }, pods: 4 }], { running: 4, nodes: 4 }),
  injected('sidecar-first', '2', [job, { ...cores, pods: 4 }], { running: 4, nodes: 4, zones: 2 }),
  injected('sidecar-gang', '2', [job, { ...cores, pods: 4, annotations: { [GANG_SIZE]: '4' } }], {
    running: 4,
    nodes: 4,
  }),
  injected('sidecar-ends', '2', [job, { ...cores, pods: 8, runs: '2s' }], { succeeded: 8 }),
  injected('sidecar-deployment', '2', [deployment, { ...cores, pods: 3 }], { running: 3, nodes: 3 }),
  injected('sidecar-set', '2', [statefulSet, { ...cores, pods: 3 }], { running: 3, nodes: 3 }),
  injected('sidecar-pod', '2', [pod, cores], { running: 1 }),
];

export const LIMIT_CASES: readonly Case[] = [...LIMIT_RANGES, ...QUOTAS, ...SIDECARS];
