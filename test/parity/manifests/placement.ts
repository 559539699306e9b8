/** Fields of pods that choose nodes. */
import {
  apart,
  claim,
  deployment,
  job,
  localVolume,
  sharedVolume,
  spread,
  statefulSet,
  storageClass,
  together,
  withClaim,
} from '../../stack/manifests';
import type { Case } from '../case';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

const required = (...matchExpressions: object[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  },
});

export const PLACEMENT_CASES: readonly Case[] = [
  {
    name: 'selector',
    manifests: () => [
      job('selector', { pods: 2, requests: { cpu: '3' }, pod: { nodeSelector: { [ZONE]: 'b' } } }),
    ],
    expected: { running: 2, nodes: 2, zones: 1 },
  },
  {
    name: 'node-affinity',
    manifests: () => [
      job('node-affinity', {
        pods: 2,
        requests: { cpu: '3' },
        pod: required(
          { key: ZONE, operator: 'NotIn', values: ['a'] },
          { key: 'rank', operator: 'Gt', values: ['0'] },
        ),
      }),
    ],
    expected: { running: 2, nodes: 2, zones: 1 },
  },
  {
    name: 'preferred-affinity',
    manifests: () => [
      job('preferred-affinity', {
        requests: { cpu: '3' },
        pod: {
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  preference: { matchExpressions: [{ key: ZONE, operator: 'In', values: ['b'] }] },
                },
              ],
            },
          },
        },
      }),
    ],
    expected: { running: 1, nodes: 1 },
  },
  {
    name: 'tolerations',
    tainted: { key: 'dedicated', value: 'batch' },
    manifests: () => [
      job('tolerations', {
        pods: 5,
        requests: { cpu: '3' },
        pod: { tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }] },
      }),
    ],
    expected: { running: 5, nodes: 5, zones: 2 },
  },
  {
    name: 'apart-job',
    manifests: () => [job('apart-job', { pods: 4, pod: apart('apart-job') })],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'apart-deployment',
    manifests: () => [deployment('apart-deployment', { pods: 4, pod: apart('apart-deployment') })],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'apart-set',
    manifests: () => [statefulSet('apart-set', { pods: 3, pod: apart('apart-set') })],
    expected: { running: 3, nodes: 3 },
  },
  {
    name: 'apart-zones',
    manifests: () => [job('apart-zones', { pods: 2, pod: apart('apart-zones', ZONE) })],
    expected: { running: 2, nodes: 2, zones: 2 },
  },
  {
    name: 'together-host',
    manifests: () => [job('together-host', { pods: 3, pod: together('together-host') })],
    expected: { running: 3, nodes: 1, zones: 1 },
  },
  {
    name: 'together-zone',
    manifests: () => [
      job('together-zone', { pods: 4, requests: { cpu: '2' }, pod: together('together-zone', ZONE) }),
    ],
    expected: { running: 4, nodes: 2, zones: 1 },
  },
  {
    name: 'preferred-apart',
    manifests: () => [
      job('preferred-apart', {
        pods: 2,
        pod: {
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: {
                    topologyKey: HOSTNAME,
                    labelSelector: { matchLabels: { app: 'preferred-apart' } },
                  },
                },
              ],
            },
          },
        },
      }),
    ],
    expected: { running: 2 },
  },
  {
    name: 'spread-nodes',
    manifests: () => [
      job('spread-nodes', { pods: 8, requests: { cpu: '500m' }, pod: spread('spread-nodes', HOSTNAME) }),
    ],
    expected: { running: 8, nodes: 4, zones: 2 },
  },
  {
    name: 'spread-zones',
    manifests: () => [
      job('spread-zones', { pods: 4, requests: { cpu: '3' }, pod: spread('spread-zones', ZONE) }),
    ],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'spread-deployment',
    manifests: () => [
      deployment('spread-deployment', { pods: 4, pod: spread('spread-deployment', HOSTNAME) }),
    ],
    expected: { running: 4, nodes: 4, zones: 2 },
  },
  {
    name: 'spread-anyway',
    manifests: () => [
      job('spread-anyway', {
        pods: 4,
        pod: spread('spread-anyway', HOSTNAME, { whenUnsatisfiable: 'ScheduleAnyway' }),
      }),
    ],
    expected: { running: 4 },
  },
  {
    name: 'host-ports',
    manifests: () => [
      job('host-ports', { pods: 3, container: { ports: [{ containerPort: 80, hostPort: 8080 }] } }),
    ],
    expected: { running: 3, nodes: 3 },
  },
  {
    name: 'host-network',
    manifests: () => [
      deployment('host-network', {
        pods: 2,
        pod: { hostNetwork: true },
        container: { ports: [{ containerPort: 8081, hostPort: 8081 }] },
      }),
    ],
    expected: { running: 2, nodes: 2 },
  },
  {
    name: 'host-network-job',
    manifests: () => [
      job('host-network-job', {
        pods: 3,
        pod: { hostNetwork: true },
        // Only of pods does the apiserver set the port of the node.
        container: { ports: [{ containerPort: 8082 }] },
      }),
    ],
    expected: { running: 3, nodes: 3 },
  },
  {
    name: 'local-volumes',
    manifests: (unique) => {
      const { spec } = claim('data', `${unique}-local`);
      const shape = { pods: 2, spec: { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] } };
      return [
        storageClass(`${unique}-local`, 'WaitForFirstConsumer'),
        localVolume(`${unique}-a`, `${unique}-local`, ZONE, 'a'),
        localVolume(`${unique}-b`, `${unique}-local`, ZONE, 'b'),
        statefulSet('local-volumes', shape),
      ];
    },
    expected: { running: 2, nodes: 2, zones: 2 },
  },
  {
    name: 'bound-volume',
    manifests: (unique) => [
      storageClass(`${unique}-bound`, 'Immediate'),
      localVolume(`${unique}-bound`, `${unique}-bound`, ZONE, 'b'),
      claim('bound', `${unique}-bound`),
      job('bound-volume', { requests: { cpu: '3' }, pod: withClaim('bound') }),
    ],
    expected: { running: 1, nodes: 1, zones: 1 },
  },
  {
    name: 'volumes',
    manifests: (unique) => [
      ...sharedVolume(unique, 'shared'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files' }, data: { a: 'b' } },
      job('volumes', {
        requests: { cpu: '3' },
        pod: {
          volumes: [
            { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
            { name: 'files', configMap: { name: 'files' } },
            {
              name: 'labels',
              downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
            },
            { name: 'data', persistentVolumeClaim: { claimName: 'shared' } },
          ],
        },
      }),
    ],
    expected: { running: 1, nodes: 1 },
  },
];
