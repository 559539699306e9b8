/** It waits for what is no matter of the queue: its namespace has left, or another controller holds it. */
import { ADMITTED_LABEL, NAMESPACE_LABEL, USER_ANNOTATION } from '../../../constructs/api/labels';
import { withField } from '../../../runtime/kubernetes/fields';
import { kindPath } from '../../../runtime/kubernetes/kind-fields';
import { namespaces, pods } from '../../../runtime/kubernetes/paths';
import { RUNS } from '../../fuzz/simulated-cluster';
import { gang, kindOf } from '../../kinds/objects';
import type { Situation } from './situation';
import { MINE, NAMESPACE } from './world';

export const OUTSIDE: readonly Situation[] = [
  {
    because: 'its namespace left the queue, and a policy refuses to hand it back',
    reason: 'NamespaceLeft',
    async arrange(world) {
      world.job('full', { pods: 2, cores: 4 });
      await world.seconds(5);
      world.job();
      await world.seconds(2);
      world.refuse('patch', 'jobs', 'change freeze');
      world.label(namespaces(NAMESPACE), { [NAMESPACE_LABEL]: 'false' });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'NamespaceLeft: its namespace left the queue: it waits until Kubernetes takes it back',
      'the queue does not start it any more',
      'what to do: nothing, unless this lasts: then kubectl describe job/mine -n science names the policy that refuses to hand it back',
    ],
  },
  {
    because: 'it is of a kind that the queue may not list any more',
    reason: 'KindNotListed',
    kinds: ['JobSet'],
    async arrange(world) {
      const metadata = { labels: { [ADMITTED_LABEL]: 'true' }, annotations: { [USER_ANNOTATION]: 'ada' } };
      world.service('elsewhere', 4);
      world.service('too', 4);
      await world.seconds(5);
      const kind = kindOf('JobSet');
      world.create(
        kindPath(kind)(NAMESPACE),
        withField(gang(kind, MINE, { metadata }), kind.suspend, true) as object,
      );
      await world.seconds(5);
      await world.restartWithout(kind.plural);
    },
    prints: [
      'science/jobset/mine waits in queue default, position 1',
      'KindNotListed: the queue cannot list objects of the kind JobSet, so it cannot start one',
      'no start is known before the queue can list objects of its kind again',
      'what to do: ask your administrator: the log of the controller says whether a right is missing, or which version of the kind is not served. Then it starts by itself, in its old place',
    ],
  },
  {
    because: 'pods of its group are missing',
    reason: 'GroupIncomplete',
    arrange: (world) =>
      world.create(pods(NAMESPACE), {
        metadata: { name: 'member', annotations: { 'fluxqueue/group': MINE, 'fluxqueue/group-size': '2' } },
        spec: { containers: [{ name: 'main', image: 'a:1' }] },
        status: { phase: 'Pending' },
      }),
    prints: [
      'science/podgroup/mine waits in queue default, position 1',
      'GroupIncomplete: waits for pods of its group: 1 of its 2 pods is there',
      'no start is known before all pods of its group are there',
      'what to do: create its other pods with the same fluxqueue/group, or correct the pod that the message names: then it waits for nodes by itself',
    ],
  },
  {
    because: 'it is a group that runs, and a pod has no place in it',
    reason: 'Running',
    async arrange(world) {
      for (const name of ['first', 'second', 'third']) {
        world.create(pods(NAMESPACE), {
          metadata: {
            name,
            annotations: { 'fluxqueue/group': MINE, 'fluxqueue/group-size': '2', [RUNS]: '9000' },
          },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'a:1', resources: { requests: { cpu: '1' } } }],
          },
          status: { phase: 'Pending' },
        });
        await world.seconds(2);
      }
      await world.seconds(20);
    },
    prints: [
      'science/podgroup/mine runs on node-0',
      'pod third is beyond the 2 pods of its group: it waits until a place in the group is free',
      'it started at 2027-01-15T08:00:03Z, and its walltime ends at 2027-01-15T09:00:03Z',
    ],
  },
  {
    because: 'another controller has a scheduling gate on the Pod',
    reason: 'SchedulingGated',
    arrange: (world) =>
      world.create(pods(NAMESPACE), {
        metadata: { name: MINE, annotations: { 'fluxqueue/walltime': '1h' } },
        spec: {
          schedulingGates: [{ name: 'example.com/approval' }],
          containers: [{ name: 'main', image: 'a:1', resources: { requests: { cpu: '1' } } }],
        },
        status: { phase: 'Pending' },
      }),
    prints: [
      'science/pod/mine waits in queue default, position 1',
      'SchedulingGated: waiting for scheduling gate example.com/approval',
      'no start is known before its scheduling gate is gone',
      'what to do: see that the controller to which the gate belongs removes it',
    ],
  },
  {
    because: 'another controller has a scheduling gate on the pods of the Job',
    reason: 'SchedulingGated',
    async arrange(world) {
      world.job(MINE, { pod: { schedulingGates: [{ name: 'example.com/approval' }] } });
      await world.seconds(5);
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'SchedulingGated: waiting for scheduling gate example.com/approval',
      'no start is known before its scheduling gate is gone',
      'what to do: see that the controller to which the gate belongs removes it',
    ],
  },
];
