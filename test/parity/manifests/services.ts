/** Workloads that run for ever. */
import { daemonSet, deployment, replicaSet, statefulSet } from '../../stack/manifests';
import type { Case } from '../case';

const wide = { requests: { cpu: '3' } };

export const SERVICE_CASES: readonly Case[] = [
  {
    name: 'web',
    manifests: () => [deployment('web', { ...wide, pods: 3 })],
    expected: { running: 3, nodes: 3 },
  },
  {
    name: 'web-small',
    manifests: () => [deployment('web-small', { pods: 4, requests: { cpu: '250m' } })],
    expected: { running: 4 },
  },
  {
    name: 'web-recreate',
    manifests: () => [
      deployment('web-recreate', { ...wide, pods: 2, spec: { strategy: { type: 'Recreate' } } }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'web-none',
    manifests: () => [deployment('web-none', { spec: { replicas: 0 } })],
    expected: {},
  },
  {
    name: 'replicas',
    manifests: () => [replicaSet('replicas', { ...wide, pods: 2 })],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'db',
    manifests: () => [statefulSet('db', { ...wide, pods: 3 })],
    expected: { running: 3, nodes: 3 },
  },
  {
    name: 'db-parallel',
    manifests: () => [
      statefulSet('db-parallel', { ...wide, pods: 4, spec: { podManagementPolicy: 'Parallel' } }),
    ],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'agent',
    manifests: () => [daemonSet('agent', { requests: { cpu: '100m' } })],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'controller',
    manifests: () => {
      const { spec, ...rest } = replicaSet('controller', { ...wide, pods: 2 });
      return [
        {
          ...rest,
          apiVersion: 'v1',
          kind: 'ReplicationController',
          spec: { ...(spec as object), selector: { app: 'controller' } },
        },
      ];
    },
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'mini',
    manifests: () => [
      {
        apiVersion: 'flux-framework.org/v1alpha2',
        kind: 'MiniCluster',
        metadata: { name: 'mini' },
        spec: {
          size: 3,
          interactive: true,
          pod: { labels: { app: 'mini' }, annotations: { 'fluxqueue.test/duration': '1h' } },
          containers: [{ image: 'none', command: 'hostname', resources: { requests: { cpu: 3 } } }],
        },
      },
    ],
    expected: { running: 3, nodes: 3 },
  },
];
