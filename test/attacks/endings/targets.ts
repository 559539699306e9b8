/** Workloads of a tenant in each phase of their life, on which moves.ts tries how they can end. */
import { HOLD, JOB_UID_LABEL } from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import type { Act } from '../attack';
import { container, create, job, type Made, template } from '../objects';

/** `waits`: nothing of it may run. `stays`: its pods run, and no kubelet says that one has ended. `ends`: its pods end after the moves. */
export type Life = 'waits' | 'stays' | 'ends' | 'ended';

export interface Target {
  readonly name: string;
  readonly life: Life;
  /** Kind of the object to which the moves are made; its pods, if there are any, get moves of their own. */
  readonly kind: 'Job' | 'Pod' | 'ReplicaSet' | 'StatefulSet';
  /** Pods that run. */
  readonly pods: number;
  /** Labels by which its controller selects its pods. */
  readonly selector?: (name: string) => Readonly<Record<string, string>>;
  readonly make: (name: string) => readonly Act[];
}

const HELD = { labels: { [HOLD]: 'true' } };
const FOR_EVER = { 'fluxqueue.test/duration': '24h', 'fluxqueue.test/stuck': 'true' };
/** Its kubelet says when it has ended. */
const UNTIL_TOLD = { 'fluxqueue.test/duration': '24h' };
const AT_ONCE = { 'fluxqueue.test/duration': '200ms' };
const SMALL = { containers: [container({ resources: { requests: { cpu: '100m', memory: '16Mi' } } })] };
const once = { restartPolicy: 'Never', ...SMALL };

const ownLabels = (name: string) => ({ own: name });
const jobOf = (annotations: object, more: object = {}, labels: object = {}) =>
  job(SMALL, { activeDeadlineSeconds: 3600, ...more }, { annotations, labels });
const ownSelector = (name: string) => ({
  manualSelector: true,
  selector: { matchLabels: ownLabels(name) },
});
const pod = (name: string, metadata: object, spec: object = once): Act =>
  create('Pod', name, { metadata, spec });
const set = (kind: 'ReplicaSet' | 'StatefulSet', name: string): Act =>
  create(kind, name, {
    spec: {
      replicas: 1,
      selector: { matchLabels: ownLabels(name) },
      ...(kind === 'StatefulSet' && { serviceName: name }),
      template: template(SMALL, { labels: ownLabels(name), annotations: FOR_EVER }),
    },
  } as Made);

export const TARGETS: readonly Target[] = [
  {
    name: 'a Job that waits',
    life: 'waits',
    kind: 'Job',
    pods: 0,
    make: (name) => [create('Job', name, { metadata: HELD, spec: jobOf(FOR_EVER) })],
  },
  {
    name: 'a Job that runs',
    life: 'stays',
    kind: 'Job',
    pods: 1,
    make: (name) => [create('Job', name, { spec: jobOf(FOR_EVER) })],
  },
  {
    name: 'an indexed Job that runs',
    life: 'stays',
    kind: 'Job',
    pods: 2,
    make: (name) => [
      create('Job', name, {
        spec: jobOf(FOR_EVER, { completionMode: 'Indexed', parallelism: 2, completions: 2 }),
      }),
    ],
  },
  {
    name: 'a Job that selects its pods by itself, and runs',
    life: 'stays',
    kind: 'Job',
    pods: 1,
    selector: ownLabels,
    make: (name) => [create('Job', name, { spec: jobOf(FOR_EVER, ownSelector(name), ownLabels(name)) })],
  },
  {
    name: 'a Job whose pod ends',
    life: 'ends',
    kind: 'Job',
    pods: 1,
    make: (name) => [create('Job', name, { spec: jobOf(UNTIL_TOLD) })],
  },
  {
    name: 'a Job that selects its pods by itself, whose pod ends',
    life: 'ends',
    kind: 'Job',
    pods: 1,
    selector: ownLabels,
    make: (name) => [create('Job', name, { spec: jobOf(UNTIL_TOLD, ownSelector(name), ownLabels(name)) })],
  },
  {
    name: 'a Job that has ended',
    life: 'ended',
    kind: 'Job',
    pods: 1,
    make: (name) => [create('Job', name, { spec: jobOf(AT_ONCE) })],
  },
  {
    name: 'a Pod that waits',
    life: 'waits',
    kind: 'Pod',
    pods: 0,
    make: (name) => [pod(name, { ...HELD, annotations: FOR_EVER })],
  },
  {
    name: 'a Pod that runs',
    life: 'stays',
    kind: 'Pod',
    pods: 1,
    make: (name) => [pod(name, { annotations: FOR_EVER })],
  },
  {
    name: 'a group of Pods that runs',
    life: 'stays',
    kind: 'Pod',
    pods: 2,
    make: (name) =>
      [name, `${name}-2`].map((one) =>
        pod(one, {
          labels: { 'fluxqueue/group': name },
          annotations: { 'fluxqueue/group-size': '2', ...FOR_EVER },
        }),
      ),
  },
  {
    name: 'a ReplicaSet that runs',
    life: 'stays',
    kind: 'ReplicaSet',
    pods: 1,
    selector: ownLabels,
    make: (name) => [set('ReplicaSet', name)],
  },
  {
    name: 'a StatefulSet that runs',
    life: 'stays',
    kind: 'StatefulSet',
    pods: 1,
    selector: ownLabels,
    make: (name) => [set('StatefulSet', name)],
  },
];

/** Labels of a pod of the target that a controller selects by; the label of Kubernetes is one of each Job's. */
export function selectorKeys(target: Target, pod: KubeObject, name: string): readonly string[] {
  const own = Object.keys(target.selector?.(name) ?? {});
  return [...own, ...(JOB_UID_LABEL in (pod.metadata.labels ?? {}) ? [JOB_UID_LABEL] : [])];
}
