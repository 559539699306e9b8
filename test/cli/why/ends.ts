/** It had nodes, has to leave them, or has ended. */
import { FAILS, LINGERS } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';
import { MINE } from './world';

const OVER_QUOTA =
  'pods "mine-0" is forbidden: exceeded quota: team, requested: cpu=3, used: cpu=4, limited: cpu=4';
const REFUSED = {
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False' as const,
      reason: 'Unschedulable',
      message: '0/2 nodes are available: 2 Insufficient memory.',
    },
  ],
};

/** Kubernetes has no other policy beside a podFailurePolicy. */
const ONLY_FAILED = 'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed"';

export const LEAVING: readonly Situation[] = [
  {
    because: 'its pods terminate after a preemption',
    reason: 'Evicting',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '0s' } });
      await world.seconds(2);
      const annotations = { 'fluxqueue/preemptible': 'true' };
      world.job('mine', { pods: 2, cores: 4, annotations, podAnnotations: { [LINGERS]: '60' } });
      await world.seconds(5);
      world.job('urgent', { cores: 4, annotations: { 'fluxqueue/priority': '10' } });
    },
    prints: [
      'science/job/mine has to leave node-[0-1]',
      'Evicting: preempted by science/urgent, which has a higher priority; leaving node-[0-1]',
      'what to do: nothing; it waits in its place again when its pods have ended',
    ],
  },
  {
    because: 'its queue returns quota that it has borrowed',
    reason: 'Evicting',
    async arrange(world) {
      world.queue('default', { quota: { cores: '2' }, cohort: 'lab' });
      world.queue('owner', { quota: { cores: '6' }, cohort: 'lab', reclaim: true });
      await world.seconds(2);
      world.job('mine', { pods: 2, cores: 4, podAnnotations: { [LINGERS]: '60' } });
      await world.seconds(5);
      world.job('theirs', { cores: 4, annotations: { 'fluxqueue/queue': 'owner' } });
    },
    prints: [
      'science/job/mine has to leave node-[0-1]',
      'Evicting: returns quota that it borrowed from queue science/owner to science/theirs; leaving node-[0-1]',
      'what to do: nothing; it waits in its place again when its pods have ended',
    ],
  },
  {
    because: 'its user suspended it, and its pods terminate',
    reason: 'Evicting',
    async arrange(world) {
      world.job('mine', { cores: 4, podAnnotations: { [LINGERS]: '60' } });
      await world.seconds(5);
      world.suspend();
    },
    prints: [
      'science/job/mine has to leave node-0',
      'Evicting: its spec.suspend was set to true; leaving node-0',
      'what to do: nothing; it waits in its place again when its pods have ended',
    ],
  },
  {
    because: 'its queue has borrowed a larger share of its cohort',
    reason: 'Evicting',
    async arrange(world) {
      const lab = { cohort: 'lab', quota: { cores: '2' } };
      world.queue('default', { ...lab, preemption: { minRuntime: '0s' } });
      world.queue('light', { ...lab, preemption: { fairSharing: 'LessThanInitialShare' } });
      world.queue('idle', { ...lab, quota: { cores: '4' } });
      await world.seconds(2);
      world.job('mine', { pods: 2, cores: 4, podAnnotations: { [LINGERS]: '60' } });
      await world.seconds(5);
      world.job('theirs', { cores: 4, annotations: { 'fluxqueue/queue': 'light' } });
    },
    prints: [
      'science/job/mine has to leave node-[0-1]',
      'Evicting: preempted by science/theirs, whose queue has a smaller share of cohort lab; leaving node-[0-1]',
      'what to do: nothing; it waits in its place again when its pods have ended',
    ],
  },
  {
    because: 'it was preempted',
    reason: 'Reserved',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '0s' } });
      await world.seconds(2);
      world.job('mine', { pods: 2, cores: 4, annotations: { 'fluxqueue/preemptible': 'true' } });
      await world.seconds(5);
      world.job('urgent', { cores: 4, annotations: { 'fluxqueue/priority': '10' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Reserved: nodes are reserved for it; evicted once for other workloads',
      'it starts at 2027-01-15T09:00:08Z at the latest: nodes are reserved for it',
      'in namespace science: job/urgent has node-0, its walltime ends at 2027-01-15T09:00:09Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'its node was lost',
    reason: 'Requeued',
    async arrange(world) {
      world.queue('default', { requeue: { backoff: '10m' } });
      await world.seconds(2);
      world.job('mine', { cores: 3 });
      await world.seconds(6);
      world.removeNode('node-0');
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Requeued: node node-0 was lost; requeued, retrying in 600s',
      'no start is known before it is tried again',
      '1 of its grants has failed so far',
      'what to do: nothing; it is tried again by itself, in its old place',
    ],
  },
  {
    because: 'kube-scheduler refused its pods for too long',
    reason: 'Requeued',
    async arrange(world) {
      world.queue('default', { requeue: { backoff: '10m' } });
      await world.seconds(2);
      await world.grantedJob();
      world.report(REFUSED);
      await world.seconds(25);
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Requeued: pod mine-0 did not run on node-0: 0/2 nodes are available: 2 Insufficient memory; requeued, retrying in 600s',
      'no start is known before it is tried again',
      '1 of its grants has failed so far',
      'what to do: nothing; it is tried again by itself, in its old place',
    ],
  },
  {
    because: 'it has not started within its walltime, and others wait for its nodes',
    reason: 'Evicting',
    async arrange(world) {
      await world.grantedJob({ cores: 4, annotations: { 'fluxqueue/walltime': '1' } });
      world.report({}, 'node-0');
      world.warn('FailedMount', 'MountVolume.SetUp failed for volume "config" : configmap "train" not found');
      world.job('wide', { pods: 2, cores: 4 });
      await world.seconds(45);
    },
    prints: [
      'science/job/mine has to leave node-0',
      'Evicting: pod mine-0 did not run on node-0: MountVolume.SetUp failed for volume "config" : configmap "train" not found; it has not started within 60 s, and others wait for its nodes; leaving node-0',
      'what to do: nothing; it waits in its place again when its pods have ended',
    ],
  },
  {
    because: 'a policy refuses its pods',
    reason: 'Requeued',
    async arrange(world) {
      world.job('mine', { cores: 3 });
      world.refusePodsOf('mine', OVER_QUOTA);
      await world.seconds(18);
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Requeued: the Job controller cannot create its pods: pods "mine-0" is forbidden: exceeded quota: team, requested: cpu=3, used: cpu=4, limited: cpu=4; requeued, retrying in 5s',
      'no start is known before it is tried again',
      '1 of its grants has failed so far',
      'what to do: nothing; it is tried again by itself, in its old place',
    ],
  },
  {
    because: 'a cause of its own kept it from running too often',
    reason: 'RequeueLimit',
    async arrange(world) {
      world.queue('default', { requeue: { limit: 0, backoff: '1s' } });
      await world.seconds(2);
      world.job('mine', { cores: 3 });
      world.refusePodsOf('mine', OVER_QUOTA);
      await world.seconds(18);
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'RequeueLimit: the Job controller cannot create its pods: pods "mine-0" is forbidden: exceeded quota: team, requested: cpu=3, used: cpu=4, limited: cpu=4; retried once an hour after 0 requeues, edit the workload to retry now',
      'it cannot start as things are',
      '1 of its grants has failed so far',
      'what to do: remove the cause; to have it tried at once, change any setting of it (such as fluxqueue/priority) or submit it again',
    ],
  },
  {
    because: 'its user suspended it while it ran',
    reason: 'Held',
    async arrange(world) {
      world.job('mine', { cores: 3 });
      await world.seconds(6);
      world.edit(MINE, (job) => ({
        ...job,
        metadata: { ...job.metadata, labels: { ...job.metadata.labels, 'fluxqueue/hold': 'true' } },
        spec: { ...job.spec, suspend: true },
      }));
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Held: held until its user releases it',
      'it does not start while it is held',
      'what to do: kubectl fluxqueue release job/mine -n science lets it start',
    ],
  },
  {
    because: 'it is a lone pod and its node was lost',
    reason: 'NodeLost',
    async arrange(world) {
      world.service('mine', 3);
      await world.seconds(6);
      world.controller.stopCluster();
      world.removeNode('node-0');
    },
    prints: [
      'science/pod/mine was granted node-0, and its pods do not run now',
      'NodeLost: node node-0 was lost',
      'what to do: nothing; Kubernetes deletes the pod. One without a controller has to be submitted again',
    ],
  },
  {
    because: 'its node is not ready, and Kubernetes has given its pod up',
    reason: 'NodeNotReady',
    async arrange(world) {
      world.job('mine', { cores: 3 });
      await world.seconds(6);
      world.node('node-0', { ready: false });
      await world.seconds(5);
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run now',
      'NodeNotReady: node node-0 is not ready',
      'what to do: nothing, if the node comes back: otherwise the workload is tried on other nodes',
    ],
  },
  {
    because: 'its node is not ready, and its pod is replaced only once it has ended',
    reason: 'NodeNotReady',
    async arrange(world) {
      world.job('mine', { cores: 3, spec: { podReplacementPolicy: 'Failed' } });
      await world.seconds(6);
      world.refuse('patch', 'jobs', ONLY_FAILED);
      world.node('node-0', { ready: false });
      await world.seconds(300);
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run now',
      'NodeNotReady: node node-0 is not ready, and pod mine-0 on it is replaced only once it has ended (podReplacementPolicy: Failed)',
      'what to do: nothing, if the node comes back: otherwise ask your administrator to delete the node, which ends its pods',
    ],
  },
  {
    because: 'it runs, and a pod of it on a node that is not ready is replaced only once it has ended',
    reason: 'Running',
    async arrange(world) {
      const annotations = { 'fluxqueue/gang-size': '2' };
      world.job('mine', { pods: 2, cores: 3, annotations, spec: { podReplacementPolicy: 'Failed' } });
      await world.seconds(6);
      world.refuse('patch', 'jobs', ONLY_FAILED);
      world.node('node-0', { ready: false });
      await world.seconds(300);
    },
    prints: [
      'science/job/mine runs on node-[0-1]',
      'node node-0 is not ready, and pod mine-0 on it is replaced only once it has ended (podReplacementPolicy: Failed)',
      'it started at 2027-01-15T08:00:01Z, and its walltime ends at 2027-01-15T09:00:01Z',
      'what to do: nothing, if the node comes back: otherwise ask your administrator to delete the node, which ends its pods',
    ],
  },
];

export const ENDED: readonly Situation[] = [
  {
    because: 'it has succeeded',
    reason: 'Succeeded',
    arrange: (world) => world.job('mine', { pods: 2, cores: 3, runs: 5 }),
    prints: ['science/job/mine has ended: Succeeded; ran for 5 s on node-[0-1]'],
  },
  {
    because: 'it has failed',
    reason: 'Failed',
    arrange: (world) =>
      world.job('mine', { runs: 5, spec: { backoffLimit: 0 }, podAnnotations: { [FAILS]: 'true' } }),
    prints: [
      'science/job/mine has ended: Failed; ran for 5 s on node-0; pod mine-0 failed: container main exited with code 1',
      'what to do: kubectl logs job/mine -n science and kubectl describe job/mine -n science say why; submit it again when the cause is removed',
    ],
  },
  {
    because: 'it used its whole walltime',
    reason: 'TimedOut',
    arrange: (world) => world.job('mine', { annotations: { 'fluxqueue/walltime': '5s' } }),
    prints: [
      'science/job/mine has ended: TimedOut; ran for 5 s on node-0',
      'what to do: submit it again with a longer fluxqueue/walltime, or have it save its work before the end',
    ],
  },
  {
    because: 'it was deleted while it waited',
    reason: 'Cancelled',
    async arrange(world) {
      world.job('mine', { annotations: { 'fluxqueue/hold': 'true' } });
      await world.seconds(6);
      world.controller.stopCluster();
      world.deleteJob();
    },
    prints: ['science/job/mine has ended: Cancelled; finished before any pod started'],
  },
];
