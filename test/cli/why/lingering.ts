/** A pod of it was asked to end and does not, whatever phase it is in. */
import { LINGERS } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';

export const LINGERING: readonly Situation[] = [
  {
    because: 'a pod of it does not end, long after its user suspended it',
    reason: 'Evicting',
    async arrange(world) {
      world.job('mine', { cores: 4, podAnnotations: { [LINGERS]: '9999' } });
      await world.seconds(5);
      world.suspend();
      await world.seconds(400);
    },
    prints: [
      'science/job/mine has to leave node-0',
      'Evicting: its spec.suspend was set to true; leaving node-0; pod mine-0 should have ended at 2027-01-15T08:00:35Z and still uses node-0, which is charged until it has ended',
      'what to do: ask your administrator: if the node is off, or runs no container of it any more: kubectl -n science delete pod mine-0 --force --grace-period=0',
    ],
  },
  {
    because: 'a pod of it does not end, long after it was preempted',
    reason: 'Evicting',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '0s' } });
      await world.seconds(2);
      const annotations = { 'fluxqueue/preemptible': 'true' };
      world.job('mine', { pods: 2, cores: 4, annotations, podAnnotations: { [LINGERS]: '9999' } });
      await world.seconds(5);
      world.job('urgent', { cores: 4, annotations: { 'fluxqueue/priority': '10' } });
      await world.seconds(400);
    },
    prints: [
      'science/job/mine has to leave node-[0-1]',
      'Evicting: preempted by science/urgent, which has a higher priority; leaving node-[0-1]; pod mine-0 and 1 more should have ended at 2027-01-15T08:00:37Z and still use node-0, node-1, which are charged until they have ended',
      'what to do: ask your administrator: if the node is off, or runs no container of it any more: kubectl -n science delete pod mine-0 --force --grace-period=0',
    ],
  },
  {
    because: 'it runs, and a pod of it that was deleted does not end',
    reason: 'Running',
    async arrange(world) {
      world.job('mine', { cores: 3, podAnnotations: { [LINGERS]: '9999' } });
      await world.seconds(6);
      world.deletePod('mine-0');
      await world.seconds(400);
    },
    prints: [
      'science/job/mine runs on node-0',
      'pod mine-0 should have ended at 2027-01-15T08:00:36Z and still uses node-0, which is charged until it has ended',
      'it started at 2027-01-15T08:00:01Z, and its walltime ends at 2027-01-15T09:00:01Z',
      'what to do: ask your administrator: if the node is off, or runs no container of it any more: kubectl -n science delete pod mine-0 --force --grace-period=0',
    ],
  },
];
