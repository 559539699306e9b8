/** Fields of pods that decide what a pod needs, or that must not matter. */
import { deployment, job } from '../../stack/manifests';
import type { Case } from '../case';

const container = (name: string, cpu: string, more: object = {}) => ({
  name,
  image: 'none',
  resources: { requests: { cpu } },
  ...more,
});

export const POD_CASES: readonly Case[] = [
  {
    name: 'init-containers',
    manifests: () => [
      job('init-containers', {
        pods: 2,
        pod: { initContainers: [container('fetch', '3'), container('check', '1')] },
      }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'sidecars',
    manifests: () => [
      job('sidecars', {
        pods: 2,
        pod: { initContainers: [container('proxy', '2', { restartPolicy: 'Always' })] },
      }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'two-containers',
    manifests: () => [
      job('two-containers', {
        pods: 2,
        pod: { containers: [container('main', '1500m'), container('helper', '1500m')] },
      }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'pod-level',
    manifests: () => [
      job('pod-level', {
        pods: 2,
        requests: {},
        pod: { resources: { requests: { cpu: '3', memory: '1Gi' } } },
      }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'overhead',
    manifests: (unique) => [
      {
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name: `${unique}-boxed` },
        handler: 'boxed',
        overhead: { podFixed: { cpu: '1' } },
      },
      job('overhead', { pods: 2, requests: { cpu: '2' }, pod: { runtimeClassName: `${unique}-boxed` } }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'best-effort',
    manifests: () => [job('best-effort', { pods: 2, requests: {} })],
    expected: { running: 2 },
  },
  {
    name: 'limits-only',
    manifests: () => [job('limits-only', { pods: 2, container: { resources: { limits: { cpu: '3' } } } })],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'fractions',
    manifests: () => [job('fractions', { pods: 16, requests: { cpu: '970m' } })],
    expected: { running: 16, nodes: 4, zones: 2 },
  },
  {
    name: 'memory',
    manifests: () => [job('memory', { pods: 2, requests: { cpu: '1', memory: '9Gi' } })],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'gpus',
    manifests: () => [job('gpus', { pods: 2, requests: { cpu: '1', 'nvidia.com/gpu': '2' } })],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'extended',
    manifests: () => [job('extended', { pods: 4, requests: { cpu: '100m', 'example.com/fpga': '1' } })],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'huge-pages',
    manifests: () => [
      job('huge-pages', { pods: 2, requests: { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '1Gi' } }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'scratch',
    manifests: () => [job('scratch', { pods: 2, requests: { cpu: '1', 'ephemeral-storage': '60Gi' } })],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'probes',
    manifests: () => {
      const exec = { exec: { command: ['true'] } };
      const probes = { startupProbe: exec, livenessProbe: exec, readinessProbe: exec };
      return [deployment('probes', { pods: 2, requests: { cpu: '3' }, container: probes })];
    },
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'hooks',
    manifests: () => {
      const lifecycle = { postStart: { exec: { command: ['true'] } }, preStop: { sleep: { seconds: 1 } } };
      const pod = {
        terminationGracePeriodSeconds: 30,
        readinessGates: [{ conditionType: 'example.com/up' }],
      };
      return [deployment('hooks', { requests: { cpu: '3' }, container: { lifecycle }, pod })];
    },
    expected: { running: 1, nodes: 1 },
  },
  {
    name: 'security',
    manifests: () => {
      const securityContext = {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      };
      return [
        job('security', {
          pod: { securityContext, hostname: 'worker', subdomain: 'pool', dnsPolicy: 'Default' },
        }),
      ];
    },
    expected: { running: 1 },
  },
  {
    name: 'priority',
    manifests: (unique) => [
      {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: `${unique}-high` },
        value: 1000,
        preemptionPolicy: 'Never',
      },
      job('priority', { pods: 2, requests: { cpu: '3' }, pod: { priorityClassName: `${unique}-high` } }),
    ],
    expected: { running: 2, nodes: 2 },
  },
];
