/** It has nodes. */
import { pods } from '../../../runtime/kubernetes/paths';
import type { Job } from '../../../runtime/kubernetes/types';
import { UNTOUCHED } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';
import type { World } from './world';

const waiting = (reason: string, message?: string) => ({
  containerStatuses: [{ name: 'main', state: { waiting: { reason, ...(message && { message }) } } }],
});
const refused = (reason: string, message: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False' as const, reason, message }],
});
const scheduled = { conditions: [{ type: 'PodScheduled', status: 'True' as const }] };

/** kube-scheduler has looked at a pod before. */
async function withScheduler(world: World): Promise<void> {
  world.create(pods('elsewhere'), {
    metadata: { name: 'before', annotations: { [UNTOUCHED]: '' } },
    spec: { containers: [{ name: 'main', image: 'a:1' }] },
    status: { phase: 'Pending', ...refused('Unschedulable', 'no nodes available') },
  });
  await world.seconds(5);
}

export const GRANTED: readonly Situation[] = [
  {
    because: 'it runs',
    reason: 'Running',
    arrange: (world) => world.job('mine', { pods: 2, cores: 3 }),
    prints: [
      'science/job/mine runs on node-[0-1]',
      'it started at 2027-01-15T08:00:01Z, and its walltime ends at 2027-01-15T09:00:01Z',
    ],
  },
  {
    because: 'it runs, and its user has lowered its deadline',
    reason: 'Running',
    async arrange(world) {
      world.job('mine', { cores: 4 });
      await world.seconds(6);
      const lowered = ({ metadata, spec, status }: Job): Job => ({
        metadata,
        spec: { ...spec, activeDeadlineSeconds: 600 },
        ...(status && { status }),
      });
      world.edit('mine', lowered);
    },
    prints: [
      'science/job/mine runs on node-0',
      'it started at 2027-01-15T08:00:01Z, and it ends at 2027-01-15T08:10:00Z at the latest',
    ],
  },
  {
    because: 'it runs, and its first container started late',
    reason: 'Running',
    async arrange(world) {
      await world.grantedJob({ cores: 4, spec: { activeDeadlineSeconds: 3600 } });
      await world.seconds(20);
      const state = { running: { startedAt: '2027-01-15T08:00:25Z' } };
      const startTime = '2027-01-15T08:00:01Z';
      const containerStatuses = [{ name: 'main', state }];
      world.report({ ...scheduled, phase: 'Running', startTime, containerStatuses }, 'node-0');
    },
    prints: [
      'science/job/mine runs on node-0',
      'it started at 2027-01-15T08:00:25Z, and it ends at 2027-01-15T09:00:00Z at the latest',
    ],
  },
  {
    because: 'it runs, and its container fails and is started again',
    reason: 'Running',
    async arrange(world) {
      await world.grantedJob();
      const terminated = { exitCode: 137, reason: 'OOMKilled' };
      const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } };
      const containerStatuses = [{ name: 'main', restartCount: 3, lastState: { terminated }, state }];
      const startTime = '2027-01-15T08:00:01Z';
      world.report({ ...scheduled, phase: 'Running', startTime, containerStatuses }, 'node-0');
    },
    prints: [
      'science/job/mine runs on node-0',
      'container main of pod mine-0 was started again 3 times (now CrashLoopBackOff), last because it was OOMKilled (exit code 137): it needs more memory than its limit',
      'it started at 2027-01-15T08:00:01Z, and its walltime ends at 2027-01-15T09:00:01Z',
      'what to do: kubectl logs job/mine -n science --previous says why its container ended; submit it again when the cause is removed',
    ],
  },
  {
    because: 'it runs, and some of its pods wait for the end of others',
    reason: 'Running',
    async arrange(world) {
      world.queue('default', {});
      world.job('mine', { pods: 3, cores: 4, spec: { completionMode: 'NonIndexed' } });
      await world.seconds(5);
    },
    prints: [
      'science/job/mine runs on node-[0-1]',
      '1 pod waits until others of it have ended',
      'it started at 2027-01-15T08:00:02Z, and its walltime ends at 2027-01-15T09:00:02Z',
    ],
  },
  {
    because: 'the Job controller has not created its pods',
    reason: 'PodsMissing',
    async arrange(world) {
      world.controller.stopCluster();
      world.job('mine', { pods: 2 });
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'PodsMissing: waiting for the Job controller to create 2 pods',
      'what to do: nothing; its pods are being started. If this lasts: the Events in kubectl describe job/mine -n science',
    ],
  },
  {
    because: 'its release is not done yet',
    reason: 'Granted',
    async arrange(world) {
      world.stall('jobs');
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'Granted: granted node-0, waiting for the first pod to start',
      'what to do: nothing; its pods are being started',
    ],
  },
  {
    because: 'a webhook of the cluster fails at its release',
    reason: 'ReleaseFailed',
    async arrange(world) {
      world.fail('patch', 'jobs', 'failed calling webhook "rules.example.com": connection refused');
      world.job('mine', { cores: 3 });
      await world.seconds(30);
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'ReleaseFailed: the apiserver does not take the release: Internal error occurred: failed calling webhook "rules.example.com": connection refused; it is tried again for a minute',
      'what to do: nothing, if this passes: it is tried again by itself. If it lasts: ask your administrator about the webhook or policy that the message names',
    ],
  },
  {
    because: 'a policy of the cluster has rejected its release a moment ago',
    reason: 'ReleaseFailed',
    async arrange(world) {
      world.refuse('patch', 'jobs', 'the change is frozen');
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'ReleaseFailed: the apiserver does not take the release: admission webhook "rules.example.com" denied the request: the change is frozen; it is tried again for a minute',
      'what to do: nothing, if this passes: it is tried again by itself. If it lasts: ask your administrator about the webhook or policy that the message names',
    ],
  },
  {
    because: 'the apiserver rejects its release',
    reason: 'Requeued',
    async arrange(world) {
      world.queue('default', { requeue: { backoff: '10m' } });
      await world.seconds(2);
      world.refuse('patch', 'jobs', 'the change is frozen');
      world.job('mine', { cores: 3 });
      await world.seconds(70);
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Requeued: the apiserver does not take the release: admission webhook "rules.example.com" denied the request: the change is frozen; requeued, retrying in 600s',
      'no start is known before it is tried again',
      '1 of its grants has failed so far',
      'what to do: nothing; it is tried again by itself, in its old place',
    ],
  },
  {
    because: 'kube-scheduler has not looked at its pods',
    reason: 'Pending',
    async arrange(world) {
      await withScheduler(world);
      await world.grantedJob();
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'Pending: waiting for default-scheduler',
      'what to do: nothing; its pods are being started',
    ],
  },
  {
    because: 'its scheduler does not run',
    reason: 'SchedulerMissing',
    arrange: (world) => world.grantedJob({ pod: { schedulerName: 'my-scheduler' } }),
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'SchedulerMissing: scheduler my-scheduler does not answer, and has never scheduled a pod',
      'what to do: correct spec.schedulerName, or ask your administrator to start that scheduler',
    ],
  },
  {
    because: 'kube-scheduler refuses its pods',
    reason: 'Unschedulable',
    async arrange(world) {
      await world.grantedJob();
      world.report(refused('Unschedulable', '0/2 nodes are available: 2 Insufficient memory.'));
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'Unschedulable: 0/2 nodes are available: 2 Insufficient memory',
      'what to do: nothing, if this passes: a workload whose pods are refused for too long is tried on other nodes',
    ],
  },
  {
    because: 'kube-scheduler failed to place its pods',
    reason: 'SchedulerError',
    async arrange(world) {
      await world.grantedJob();
      world.report(refused('SchedulerError', 'binding volumes: timed out waiting for the condition'));
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'SchedulerError: binding volumes: timed out waiting for the condition',
      'what to do: correct what the message names; kubectl describe pods -n science says more. Pods that do not start in time are tried on other nodes',
    ],
  },
  {
    because: 'its volumes are not bound',
    reason: 'VolumesUnbound',
    async arrange(world) {
      await withScheduler(world);
      const volumes = [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec: {} } } }];
      await world.grantedJob({ pod: { volumes } as never });
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'VolumesUnbound: waiting for its volumes to be bound',
      'PartiallyModeled: kube-scheduler may refuse a granted node because of fields that the queue does not model: spec.template.spec.volumes[0] (the claim is not bound)',
      'what to do: see kubectl get pvc -n science and kubectl describe pvc -n science for what the volumes wait for',
    ],
  },
  {
    because: 'the resource claim of its pods does not exist',
    reason: 'ResourceClaimMissing',
    async arrange(world) {
      await withScheduler(world);
      await world.grantedJob({ pod: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'my-gpu' }] } });
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'ResourceClaimMissing: resourceclaim "my-gpu" not found',
      'PartiallyModeled: kube-scheduler may refuse a granted node because of fields that the queue does not model: spec.template.spec.resourceClaims',
      'what to do: create the resource claim; if it is missing for too long, the workload is requeued',
    ],
  },
  {
    because: 'the containers of its pods are created',
    reason: 'ContainerCreating',
    async arrange(world) {
      await world.grantedJob();
      world.report(scheduled, 'node-0');
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'ContainerCreating: its containers are being created',
      'what to do: nothing; its pods are being started',
    ],
  },
  {
    because: 'the ConfigMap of its volume does not exist',
    reason: 'FailedMount',
    async arrange(world) {
      await world.grantedJob();
      world.report(scheduled, 'node-0');
      await world.seconds(2);
      world.warn('FailedMount', 'MountVolume.SetUp failed for volume "c" : configmap "nope" not found');
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'FailedMount: MountVolume.SetUp failed for volume "c" : configmap "nope" not found',
      'what to do: correct what the message names; kubectl describe pods -n science says more. Pods that do not start in time are tried on other nodes',
    ],
  },
  {
    because: 'its init container runs',
    reason: 'PodInitializing',
    async arrange(world) {
      await world.grantedJob();
      const initContainerStatuses = [{ name: 'fetch', state: { running: {} } }];
      world.report({ ...scheduled, initContainerStatuses }, 'node-0');
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run now',
      'PodInitializing: init container fetch is running',
      'what to do: nothing; its pods run when their init containers have ended',
    ],
  },
  {
    because: 'its image cannot be pulled',
    reason: 'ImagePullBackOff',
    async arrange(world) {
      await world.grantedJob();
      world.report(
        { ...scheduled, ...waiting('ImagePullBackOff', 'Back-off pulling image "a:1"') },
        'node-0',
      );
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'ImagePullBackOff: a:1',
      'what to do: correct what the message names; kubectl describe pods -n science says more. Pods that do not start in time are tried on other nodes',
    ],
  },
  {
    because: 'the Secret that its container names does not exist',
    reason: 'CreateContainerConfigError',
    async arrange(world) {
      await world.grantedJob();
      const status = waiting('CreateContainerConfigError', 'secret "key" not found');
      world.report({ ...scheduled, ...status }, 'node-0');
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'CreateContainerConfigError: secret "key" not found',
      'what to do: correct what the message names; kubectl describe pods -n science says more. Pods that do not start in time are tried on other nodes',
    ],
  },
  {
    because: 'its container starts and ends again and again',
    reason: 'CrashLoopBackOff',
    async arrange(world) {
      await world.grantedJob();
      const status = waiting('CrashLoopBackOff', 'back-off 40s restarting failed container=main');
      world.report({ ...scheduled, ...status }, 'node-0');
    },
    prints: [
      'science/job/mine was granted node-0, and its pods do not run yet',
      'CrashLoopBackOff: back-off 40s restarting failed container=main',
      'what to do: correct what the message names; kubectl describe pods -n science says more. Pods that do not start in time are tried on other nodes',
    ],
  },
];
