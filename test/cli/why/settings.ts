/** It waits because of what its user has written. */
import { FAILS } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';

const after = (text: string) => ({ 'fluxqueue/after': text });

export const DEPENDENCIES: readonly Situation[] = [
  {
    because: 'the one that it waits for has not ended',
    reason: 'DependencyPending',
    async arrange(world) {
      world.job('prep');
      await world.seconds(5);
      world.job('mine', { annotations: after('prep') });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: waits for prep to succeed',
      'no start is known before the other one has ended',
      'what to do: nothing, if the names in its fluxqueue/after are right: it starts by itself',
    ],
  },
  {
    because: 'the one that it waits for has failed',
    reason: 'DependencyPending',
    async arrange(world) {
      world.job('prep', { runs: 1, spec: { backoffLimit: 0 }, podAnnotations: { [FAILS]: 'true' } });
      await world.seconds(15);
      world.job('mine', { annotations: after('prep') });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: can never start: waits for prep to succeed, which has failed',
      'it cannot start as things are',
      'what to do: change or remove its annotation fluxqueue/after, or delete it',
    ],
  },
  {
    because: 'it waits for the failure of one that has succeeded',
    reason: 'DependencyPending',
    async arrange(world) {
      world.job('prep', { runs: 1 });
      await world.seconds(15);
      world.job('mine', { annotations: after('afternotok:prep') });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: can never start: waits for prep to fail, which has succeeded',
      'it cannot start as things are',
      'what to do: change or remove its annotation fluxqueue/after, or delete it',
    ],
  },
  {
    because: 'the one that it waits for does not exist yet',
    reason: 'DependencyPending',
    arrange: (world) => world.job('mine', { annotations: after('afterany:prep') }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: waits for prep, which does not exist yet',
      'no start is known before the other one has ended',
      'what to do: nothing, if the names in its fluxqueue/after are right: it starts by itself',
    ],
  },
  {
    because: 'the one that it waits for has not come for minutes',
    reason: 'DependencyPending',
    async arrange(world) {
      world.job('mine', { annotations: after('perp') });
      await world.seconds(400);
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: waits for perp, which has never existed in this namespace; correct fluxqueue/after if the name is wrong',
      'no start is known before the other one has ended',
      'what to do: nothing, if the names in its fluxqueue/after are right: it starts by itself',
    ],
  },
  {
    because: 'the one that it waits for can never start',
    reason: 'DependencyPending',
    async arrange(world) {
      world.job('first', { runs: 1, spec: { backoffLimit: 0 }, podAnnotations: { [FAILS]: 'true' } });
      await world.seconds(15);
      world.job('prep', { annotations: after('first') });
      world.job('mine', { annotations: after('prep') });
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'DependencyPending: can never start: waits for prep to succeed, which can never start',
      'it cannot start as things are',
      'what to do: kubectl fluxqueue why prep -n science says what to correct there; or change or remove its annotation fluxqueue/after, or delete it',
    ],
  },
  {
    because: 'it and another one wait for each other',
    reason: 'DependencyPending',
    arrange(world) {
      world.job('prep', { annotations: after('mine') });
      world.job('mine', { annotations: after('prep') });
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'DependencyPending: can never start: waits for prep, which waits for mine in turn; change fluxqueue/after of one of them',
      'it cannot start as things are',
      'what to do: change or remove its annotation fluxqueue/after, or delete it',
    ],
  },
  {
    because: 'it waits for itself',
    reason: 'DependencyPending',
    arrange: (world) => world.job('mine', { annotations: after('mine') }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'DependencyPending: can never start: waits for itself; change its fluxqueue/after',
      'it cannot start as things are',
      'what to do: change or remove its annotation fluxqueue/after, or delete it',
    ],
  },
];

export const HELD: readonly Situation[] = [
  {
    because: 'its user holds it',
    reason: 'Held',
    arrange: (world) => world.job('mine', { annotations: { 'fluxqueue/hold': 'true' } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Held: held until its user releases it',
      'it does not start while it is held',
      'what to do: kubectl fluxqueue release job/mine -n science lets it start',
    ],
  },
  {
    because: 'its manifest has suspend: true',
    reason: 'Held',
    arrange: (world) => world.job('mine', { spec: { suspend: true } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Held: held until its user releases it',
      'it does not start while it is held',
      'what to do: kubectl fluxqueue release job/mine -n science lets it start',
    ],
  },
  {
    because: 'it has no pods',
    reason: 'Held',
    arrange: (world) => world.job('mine', { pods: 0, spec: { completions: 1 } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Held: has no pods: it waits until its user sets its parallelism to 1 or more',
      'it does not start while it is held',
      'what to do: set spec.parallelism (and spec.completions) to 1 or more',
    ],
  },
  {
    because: 'its quantities cannot be read',
    reason: 'Invalid',
    arrange: (world) => world.job('mine', { requests: { memory: 'much' } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Invalid: FLUXQ_QUANTITY: spec.template.spec.containers[0].resources.requests["memory"]: is not a resource quantity of at least 0 (got "much"); write it like 2, 500m, 1.5 or 16Gi',
      'it cannot start as things are',
      'what to do: correct what the message names and submit it again',
    ],
  },
  {
    because: 'it takes too long to read',
    reason: 'Invalid',
    arrange(world) {
      const names = Array.from({ length: 6000 }, (_, i) => [`example.com/r${i}`, '1']);
      world.job('mine', { requests: Object.fromEntries(names) });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Invalid: FLUXQ_TOO_LARGE: spec.template.spec.containers: takes too long to read; use a shorter list',
      'it cannot start as things are',
      'what to do: correct what the message names and submit it again',
    ],
  },
  {
    because: 'its walltime and its priority are beyond the limits of its queue',
    reason: 'Reserved',
    async arrange(world) {
      world.queue('default', { walltime: { max: '1h' }, priority: { max: 10 } });
      await world.seconds(2);
      world.job('full', { pods: 2, cores: 4 });
      await world.seconds(5);
      const annotations = { 'fluxqueue/walltime': '9h', 'fluxqueue/priority': '50' };
      world.job('mine', { cores: 2, annotations });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'Reserved: nodes are reserved for it',
      'it starts at 2027-01-15T09:00:02Z at the latest: nodes are reserved for it',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:03Z',
      'SettingsReduced: walltime 9h is reduced to 1h, the maximum of queue science/default; priority 50 is reduced to 10, the maximum of queue science/default',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'it names the queue of the stack, and its namespace has queues of its own',
    reason: 'NoFluxSetup',
    async arrange(world) {
      world.queue('team', {});
      await world.seconds(2);
      world.job('mine', { annotations: { 'fluxqueue/queue': 'default' } });
    },
    prints: [
      'science/job/mine waits in queue science/default, position 1',
      'NoFluxSetup: waits for queue science/default, which does not exist',
      'it cannot start as things are',
      'SettingsReduced: queue default is not allowed by the FluxSetups of this namespace, so queue science/default is meant',
      'what to do: correct fluxqueue/queue of it or of its namespace (kubectl get fluxsetups -n science lists the queues), or have the FluxSetup created or corrected: then it starts by itself',
    ],
  },
  {
    because: 'it asks for what only kube-scheduler knows',
    reason: 'Reserved',
    async arrange(world) {
      world.job('full', { pods: 2, cores: 4 });
      await world.seconds(5);
      const resourceClaims = [{ name: 'gpu', resourceClaimName: 'gpu' }];
      world.job('mine', { cores: 2, pod: { resourceClaims } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Reserved: nodes are reserved for it',
      'it starts at 2027-01-15T09:00:00Z at the latest: nodes are reserved for it',
      'in namespace science: job/full has node-[0-1], its walltime ends at 2027-01-15T09:00:01Z',
      'PartiallyModeled: kube-scheduler may refuse a granted node because of fields that the queue does not model: spec.template.spec.resourceClaims',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'no pass has seen it, because Fluxion does not answer',
    reason: 'Submitted',
    async arrange(world) {
      world.breakFluxion();
      world.job('mine');
      await world.seconds(300);
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Submitted: waiting for the next scheduling pass',
      'no pass has judged it for 5m: the controller or Fluxion may be down',
      'what to do: nothing, unless this lasts: then ask your administrator for the log of the controller',
    ],
  },
];
