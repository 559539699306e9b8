/** Jobs that have together every field that the runtime reads of Jobs. */
import type { KubeObject } from '../cluster/api';
import { NAMESPACE, PODS } from './full-pods';

/** The Job controller leaves these Jobs alone, so their status is what the test writes. */
const managedBy = 'example.com/nobody';

const [pod] = PODS as readonly [KubeObject & { readonly spec: object }];
const { nodeName: _, ...podSpec } = pod.spec as { readonly nodeName: string };
const small = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] };

const jobOf = (name: string, spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...metadata, name, namespace: NAMESPACE },
  spec: { managedBy, ...spec },
});

const { labels, annotations, finalizers, ownerReferences } = pod.metadata as Readonly<Record<string, object>>;

export const JOBS: readonly KubeObject[] = [
  jobOf(
    'full',
    {
      suspend: true,
      parallelism: 3,
      completions: 7,
      completionMode: 'Indexed',
      activeDeadlineSeconds: 600,
      backoffLimit: 2,
      backoffLimitPerIndex: 1,
      template: {
        metadata: { labels, annotations, finalizers },
        spec: { ...podSpec, serviceAccountName: 'solver' },
      },
    },
    { labels, annotations, finalizers, ownerReferences },
  ),
  jobOf('plain', { template: { spec: small } }),
  jobOf('host-network', {
    template: {
      spec: {
        ...small,
        hostNetwork: true,
        containers: [{ name: 'main', image: 'a', ports: [{ containerPort: 82 }] }],
      },
    },
  }),
  jobOf('zero', { parallelism: 0, suspend: false, activeDeadlineSeconds: 1, template: { spec: small } }),
  // The only Jobs whose template the apiserver gives no labels.
  jobOf('manual', {
    manualSelector: true,
    selector: { matchLabels: { app: 'manual' } },
    template: { metadata: { labels: { app: 'manual' } }, spec: small },
  }),
  jobOf('large', {
    template: {
      spec: {
        ...small,
        containers: [{ name: 'main', image: 'a', env: [{ name: 'LONG', value: 'x'.repeat(150_000) }] }],
      },
    },
  }),
];

/** What a Job controller reports of the Job `full`. */
export const STATUS = {
  startTime: '2026-01-02T03:04:05Z',
  active: 2,
  succeeded: 1,
  ready: 0,
  terminating: 0,
  completedIndexes: '0',
  failedIndexes: '3',
  conditions: [
    { type: 'Suspended', status: 'False', lastTransitionTime: '2026-01-02T03:04:05Z' },
    {
      type: 'FailureTarget',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'it has failed too often',
      lastProbeTime: '2026-01-02T03:04:06Z',
      lastTransitionTime: '2026-01-02T03:04:06Z',
    },
  ],
};
