/** It waits for nodes. The cluster has two nodes with 4 cores and 16 GiB each. */
import { LINGERS } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';
import type { World } from './world';

const fcfs = (world: World) => world.queue('default', { policy: 'fcfs' });

async function full(world: World): Promise<void> {
  world.job('full', { pods: 2, cores: 4 });
  await world.seconds(5);
}

export const BUSY: readonly Situation[] = [
  {
    because: 'it is next and nodes are reserved for it',
    reason: 'Reserved',
    async arrange(world) {
      await full(world);
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Reserved: nodes are reserved for it',
      'it starts at 2027-01-15T09:00:00Z at the latest: nodes are reserved for it',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:01Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'it is behind another one, and would start with the plan',
    reason: 'Busy',
    async arrange(world) {
      await full(world);
      world.job('first', { pods: 2, cores: 4 });
      await world.seconds(3);
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'Busy: needs 1 pod with 3 cores; not free now for its walltime',
      'it would start at about 2027-01-15T10:00:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/first (position 1)',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:01Z',
      'nodes are reserved for job/first (position 1) from 2027-01-15T09:00:00Z on: those of them that are free are only for what ends before',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'it would delay the reservation of an earlier one if it were backfilled',
    reason: 'Busy',
    async arrange(world) {
      world.job('half', { cores: 4 });
      await world.seconds(5);
      world.job('wide', { pods: 2, cores: 4 });
      await world.seconds(3);
      world.job('mine', { cores: 2, annotations: { 'fluxqueue/walltime': '2h' } });
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'Busy: needs 1 pod with 2 cores; not free now for its walltime',
      'it would start at about 2027-01-15T10:00:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/wide (position 1)',
      'in namespace science: job/half has node-0, its walltime ends at 2027-01-15T09:00:01Z',
      'nodes are reserved for job/wide (position 1) from 2027-01-15T09:00:00Z on: those of them that are free are only for what ends before',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'it is behind an earlier one of a queue with policy fcfs',
    reason: 'Busy',
    async arrange(world) {
      fcfs(world);
      await world.seconds(2);
      world.job('half', { cores: 4 });
      await world.seconds(5);
      world.job('wide', { pods: 2, cores: 4 });
      await world.seconds(3);
      world.job('mine');
    },
    prints: [
      'science/job/mine waits in queue science/default, position 2',
      'Busy: waits behind earlier workloads of its queue',
      'it would start at about 2027-01-15T10:01:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/wide (position 1)',
      'in namespace science: job/half has node-0, its walltime ends at 2027-01-15T09:00:04Z',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'it is behind many',
    reason: 'Busy',
    async arrange(world) {
      await full(world);
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        world.job(name, { pods: 2, cores: 4 });
        await world.seconds(2);
      }
      world.job('mine', { pods: 2 });
    },
    prints: [
      'science/job/mine waits in queue default, position 6',
      'Busy: needs 2 pods with 1 core each; not free now for its walltime',
      'it would start at about 2027-01-15T14:00:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/c (position 3), job/d (position 4), job/e (position 5)',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:01Z',
      'nodes are reserved for job/a (position 1) from 2027-01-15T09:00:00Z on: those of them that are free are only for what ends before',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'a node that it needs is cordoned',
    reason: 'Busy',
    async arrange(world) {
      world.node('node-1', { spec: { unschedulable: true } });
      await world.seconds(5);
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; that needs nodes that are down or cordoned (node-1)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'a node that it needs is not ready',
    reason: 'Busy',
    async arrange(world) {
      world.node('node-1', { ready: false });
      await world.seconds(5);
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; that needs nodes that are down or cordoned (node-1)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'it has to be in the zone of pods that are not there',
    reason: 'Busy',
    async arrange(world) {
      for (const node of ['node-0', 'node-1']) world.node(node, { labels: { zone: node } });
      await world.seconds(5);
      const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'database' } } };
      const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
      world.job('mine', { pod: { affinity: { podAffinity } } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 1 pod with 1 core, the zone of certain other pods (podAffinity); not free now for its walltime',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'services have the nodes that it needs',
    reason: 'Busy',
    async arrange(world) {
      world.service('web', 2);
      world.service('db', 3);
      await world.seconds(5);
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; it can start only when services leave their nodes (science/web, science/db)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: pod/db has node-1, it runs until it is deleted; pod/web has node-0, it runs until it is deleted',
      'what to do: nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it',
    ],
  },
  {
    because: 'more services than are named have the nodes that it needs',
    reason: 'Busy',
    async arrange(world) {
      for (const name of ['web', 'db', 'cache', 'log']) {
        world.service(name, 1);
        await world.seconds(2);
      }
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; it can start only when services leave their nodes (science/web, science/db, science/cache and others)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: pod/cache has node-0, it runs until it is deleted; pod/db has node-0, it runs until it is deleted; pod/log has node-0, it runs until it is deleted; 1 more runs',
      'what to do: nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it',
    ],
  },
  {
    because: 'pods outside the queue have the nodes that it needs',
    reason: 'Busy',
    async arrange(world) {
      world.controller.unmanagedPod('agent', { node: 'node-0', cores: 2, runs: 100_000 });
      await world.seconds(5);
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; it can start only when pods outside the queue end (on node-0)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'what to do: nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it',
    ],
  },
  {
    because: 'services and pods outside the queue have the nodes that it needs',
    reason: 'Busy',
    async arrange(world) {
      world.service('web', 2);
      await world.seconds(5);
      world.controller.unmanagedPod('agent', { node: 'node-1', cores: 2, runs: 100_000 });
      await world.seconds(5);
      world.job('mine', { pods: 2, cores: 4 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Busy: needs 2 pods with 4 cores each; it can start only when services leave their nodes (science/web) and pods outside the queue end (on node-1)',
      'no start is known: the plan does not reach so far, or it waits for something that has no time',
      'in namespace science: pod/web has node-0, it runs until it is deleted',
      'what to do: nothing, until enough of what the message names has ended: it is free at no known time. Fewer or smaller pods may fit beside it',
    ],
  },
  {
    because: 'it may preempt another one, but not yet',
    reason: 'Reserved',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '10m' } });
      await world.seconds(2);
      world.job('other', { pods: 2, cores: 4, annotations: { 'fluxqueue/preemptible': 'true' } });
      await world.seconds(5);
      world.job('mine', { cores: 3, annotations: { 'fluxqueue/priority': '10' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Reserved: nodes are reserved for it; others may be evicted for it from 2027-01-15T08:10:03Z on, when they have run for the preemption.minRuntime of their queue',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/other has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'it may not preempt another one again',
    reason: 'Reserved',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '0s', limit: 0 } });
      await world.seconds(2);
      world.job('other', { pods: 2, cores: 4, annotations: { 'fluxqueue/preemptible': 'true' } });
      await world.seconds(5);
      world.job('mine', { cores: 3, annotations: { 'fluxqueue/priority': '10' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Reserved: nodes are reserved for it; workloads that it could preempt keep their nodes: they were preempted as often as the preemption.limit of their queue allows',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/other has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'another one that was evicted for it has not left yet',
    reason: 'Reserved',
    async arrange(world) {
      world.queue('default', { preemption: { policy: 'LowerPriority', minRuntime: '0s' } });
      await world.seconds(2);
      const annotations = { 'fluxqueue/preemptible': 'true' };
      world.job('other', { pods: 2, cores: 4, annotations, podAnnotations: { [LINGERS]: '9999' } });
      await world.seconds(5);
      world.job('mine', { cores: 3, annotations: { 'fluxqueue/priority': '10' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Reserved: nodes are reserved for it; science/other has to leave for it',
      'it starts at 2027-01-15T08:00:52Z at the latest: nodes are reserved for it',
      'in namespace science: job/other has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'the host port that it needs is in use on every node',
    reason: 'Reserved',
    async arrange(world) {
      const ports = [{ containerPort: 80, hostPort: 80 }];
      const pod = (cpu: string) => ({
        containers: [{ name: 'main', image: 'a:1', ports, resources: { requests: { cpu } } }],
      });
      world.job('others', { pods: 2, pod: pod('1') });
      await world.seconds(5);
      world.job('mine', { pod: pod('1') });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Reserved: nodes are reserved for it',
      'it starts at 2027-01-15T09:00:00Z at the latest: nodes are reserved for it',
      'in namespace science: job/others has node-[0-1], its walltime ends at 2027-01-15T09:00:01Z',
      'what to do: nothing; it starts by itself',
    ],
  },
];
