/** It waits because of quotas and limits, or for its queue. */
import type { Situation } from './situation';
import type { World } from './world';

const exclusive = { 'fluxqueue/exclusive': 'true' };
const inQueue = (name: string) => ({ 'fluxqueue/queue': name });

async function usedUp(world: World): Promise<void> {
  await world.seconds(2);
  world.job('used', { cores: 3 });
  await world.seconds(5);
}

export const QUOTAS: readonly Situation[] = [
  {
    because: 'the quota of its queue is in use',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' } });
      await usedUp(world);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: needs 2 cores, more than is left of its queue's quota (4 cores in all)",
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'it asks for more than the quota of its queue',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' } });
      await world.seconds(2);
      world.job('mine', { pods: 2, cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: can never start: asks for 6 cores, more than its queue's quota of 4 cores",
      'it cannot start as things are',
      'what to do: delete it and submit it with a smaller request, or to a queue with a larger quota (fluxqueue/queue)',
    ],
  },
  {
    because: 'its queue is paused by its quota',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { jobs: 0 } });
      await world.seconds(2);
      world.job('mine', { cores: 1 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: can never start: asks for 1 job, more than its queue's quota of 0 jobs",
      'it cannot start as things are',
      'what to do: nothing, until whoever manages its queue (kubectl get fluxsetups -n science) raises that; or move it to another queue (fluxqueue/queue)',
    ],
  },
  {
    because: 'its queue is paused by its limit',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { limits: { running: 0 } });
      await world.seconds(2);
      world.job('mine', { cores: 1 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: can never start: at most 0 workloads of its queue run at a time',
      'it cannot start as things are',
      'what to do: nothing, until whoever manages its queue (kubectl get fluxsetups -n science) raises that; or move it to another queue (fluxqueue/queue)',
    ],
  },
  {
    because: 'whole nodes come to more than the quota of its queue',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '6' } });
      await world.seconds(2);
      world.job('mine', { pods: 2, annotations: exclusive });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: can never start: asks for 2 whole nodes, which hold at least 8 cores, more than its queue's quota of 6 cores",
      'it cannot start as things are',
      'what to do: delete it and submit it with a smaller request, or to a queue with a larger quota (fluxqueue/queue)',
    ],
  },
  {
    because: 'its queue may use no other node',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { nodes: 1 } });
      await usedUp(world);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: needs more nodes than are left of its queue's quota (1 node)",
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its queue has borrowed as much as it may',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '2' }, borrowing: { cores: '2' }, cohort: 'lab' });
      world.queue('other', { quota: { cores: '6' }, cohort: 'lab' });
      await usedUp(world);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      "QuotaExceeded: needs 2 cores, more than is left of its queue's quota (2 cores and 2 cores of borrowing in all)",
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its queue has no quota of a resource that its cohort counts, and takes nothing back',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' }, cohort: 'lab', reclaim: true });
      world.queue('other', { quota: { cores: '2', memory: '64Gi' }, cohort: 'lab' });
      await world.seconds(2);
      world.job('borrower', { pods: 2, cores: 3, annotations: inQueue('other') });
      await world.seconds(5);
      world.job('mine', { cores: 2, requests: { memory: '2Gi' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: needs 2 cores, more than is left of the quota of cohort lab (6 cores in all); its queue takes none of it back, because it has too little own quota of memory',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/borrower has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'other queues of its cohort have borrowed its quota',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' }, cohort: 'lab' });
      world.queue('other', { quota: { cores: '2' }, cohort: 'lab' });
      await world.seconds(2);
      world.job('borrower', { pods: 2, cores: 3, annotations: inQueue('other') });
      await world.seconds(5);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: needs 2 cores, more than is left of the quota of cohort lab (6 cores in all)',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/borrower has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'services hold the quota that it needs',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' }, cohort: 'lab', reclaim: true });
      world.queue('other', { quota: { cores: '2' }, cohort: 'lab' });
      await world.seconds(2);
      world.service('web', 3, inQueue('other'));
      world.service('db', 1, inQueue('other'));
      await world.seconds(5);
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: needs 3 cores, more than is left of the quota of cohort lab (6 cores in all); services hold part of it and have no end (science/web, science/db)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: pod/db has node-0, it runs until it is deleted; pod/web has node-0, it runs until it is deleted',
      'what to do: nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it',
    ],
  },
  {
    because: 'the other queues of its cohort keep their quota',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '2' }, cohort: 'lab' });
      world.queue('other', { quota: { cores: '4' }, lendingLimit: { cores: '1' }, cohort: 'lab' });
      await usedUp(world);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: needs 2 cores, more than is left of the quota of cohort lab without what other queues keep (3 cores in all)',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'the quota of its queue is kept for an earlier one',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { quota: { cores: '4' } });
      await usedUp(world);
      world.job('first', { cores: 4 });
      await world.seconds(3);
      world.job('mine', { annotations: { 'fluxqueue/walltime': '2h' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 2',
      "QuotaExceeded: its queue's quota is kept for an earlier workload",
      'it would start at about 2027-01-15T10:01:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/first (position 1)',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its queue runs as many as it may',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { limits: { running: 1 } });
      await usedUp(world);
      world.job('mine');
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: at most 1 workload of its queue runs at a time',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its user runs as many as one may',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { limits: { perUser: { running: 1 } } });
      await usedUp(world);
      world.job('mine');
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'QuotaExceeded: at most 1 workload of its user runs at a time',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/used has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its user has as many in the line as one may',
    reason: 'QuotaExceeded',
    async arrange(world) {
      world.queue('default', { limits: { perUser: { waiting: 1 } } });
      await world.seconds(2);
      world.job('full', { pods: 2, cores: 4 });
      await world.seconds(5);
      world.job('first', { cores: 2 });
      await world.seconds(2);
      world.job('mine');
    },
    prints: [
      'science/job/mine waits in queue science/default, position 2',
      'QuotaExceeded: at most 1 waiting workload of its user is considered at a time',
      'it would start at about 2027-01-15T10:01:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/first (position 1)',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself when there is room for it again',
    ],
  },
  {
    because: 'its queue does not exist',
    reason: 'NoFluxSetup',
    arrange: (world) => world.job('mine', { annotations: inQueue('wrong') }),
    prints: [
      'science/job/mine waits in queue science/wrong, position 1',
      'NoFluxSetup: waits for queue science/wrong, which does not exist',
      'it cannot start as things are',
      'what to do: correct fluxqueue/queue of it or of its namespace (kubectl get fluxsetups -n science lists the queues), or have the FluxSetup created or corrected: then it starts by itself',
    ],
  },
  {
    because: 'its queue has invalid settings',
    reason: 'NoFluxSetup',
    async arrange(world) {
      world.queue('team', { quota: { cores: 'many' } });
      await world.seconds(2);
      world.job('mine', { annotations: inQueue('team') });
    },
    prints: [
      'science/job/mine waits in queue science/team, position 1',
      'NoFluxSetup: waits for queue science/team, whose FluxSetup is invalid: FLUXQ_QUANTITY: spec.quota.cores: is not a resource quantity of at least 0 (got "many"); write it like 2, 500m, 1.5 or 16Gi',
      'it cannot start as things are',
      'what to do: correct fluxqueue/queue of it or of its namespace (kubectl get fluxsetups -n science lists the queues), or have the FluxSetup created or corrected: then it starts by itself',
    ],
  },
];
