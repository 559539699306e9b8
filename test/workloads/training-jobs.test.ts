/** Kinds of the training operator through the adapter of all kinds. */

import { podRequests } from '../../runtime/jobspec/requests';
import { unitsOf } from '../../runtime/jobspec/units';
import { withField } from '../../runtime/kubernetes/fields';
import type { KindObject } from '../../runtime/kubernetes/kind-fields';
import { kindAdapter } from '../../runtime/workloads/kind-adapter';
import { gang, kindOf } from '../kinds/objects';
import { TRAINING_KINDS } from '../kinds/training-operator';

const UNITS = { cpuMillis: 100, memoryMiB: 128 };
const objectOf = (kind: string, workers: number) =>
  gang(kindOf(kind), 'train', { workers, cores: 2, metadata: { uid: 'uid-train' } }) as unknown as KindObject;
const demandOf = (kind: string, object: KindObject) => kindAdapter(kindOf(kind)).demand(object);

test.each(TRAINING_KINDS)('counts the replicas of each role of a %s', (kind) => {
  const { podSets } = demandOf(kind, objectOf(kind, 3));
  const names = podSets.map(({ name }) => name);
  expect(names.at(-1)).toBe('worker');
  expect(podSets.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  for (const { field } of podSets) expect(field).toMatch(/^spec\.\w+ReplicaSpecs\.\w+\.template\.spec$/);
});

test('takes the longest run of its user for its walltime', () => {
  const object = withField(objectOf('TFJob', 1), ['spec', 'runPolicy', 'activeDeadlineSeconds'], 90);
  expect(demandOf('TFJob', object as KindObject).deadlineSeconds).toBe(90);
});

test('grants workers of a PyTorchJob the container in which they wait for the master', () => {
  const path = ['spec', 'pytorchReplicaSpecs', 'Worker', 'template', 'spec', 'containers'];
  const small = withField(objectOf('PyTorchJob', 1), path, [
    { name: 'pytorch', image: 'none' },
  ]) as KindObject;
  const { podSets } = demandOf('PyTorchJob', small);
  const [master, worker] = podSets.map(({ spec }) => unitsOf(podRequests(spec), UNITS));
  expect(master).toEqual({ core: 10 });
  expect(worker).toEqual({ core: 1, memory: 1 });
  // Where its own containers ask for more, it costs nothing.
  const [, large] = demandOf('PyTorchJob', objectOf('PyTorchJob', 1)).podSets;
  expect(unitsOf(podRequests(large!.spec), UNITS)).toMatchObject({ core: 20 });
  const sample = kindAdapter(kindOf('PyTorchJob')).samplePod(small as never, 'worker');
  expect(sample).toMatchObject({
    metadata: { labels: { 'training.kubeflow.org/replica-type': 'worker' } },
    spec: { initContainers: [{ name: 'init-pytorch' }], containers: [{ name: 'pytorch' }] },
  });
});

test.each(['PyTorchJob', 'PaddleJob'])(
  'refuses a %s whose workers an autoscaler changes, and no other elastic one',
  (kind) => {
    const elastic = (policy: object) =>
      withField(objectOf(kind, 2), ['spec', 'elasticPolicy'], policy) as KindObject;
    expect(() => demandOf(kind, elastic({ maxReplicas: 4, metrics: [] }))).toThrow(
      `FLUXQ_POD_SETS: spec.elasticPolicy.metrics: lets an autoscaler change its number of workers, but the pods of a ${kind} are granted together; remove it`,
    );
    expect(demandOf(kind, elastic({ maxReplicas: 4 })).podSets.map(({ count }) => count)).toEqual([1, 2]);
  },
);

test('refuses roles without a template, and two of one name', () => {
  const bare = withField(objectOf('TFJob', 1), ['spec', 'tfReplicaSpecs', 'PS'], {
    replicas: 1,
  }) as KindObject;
  expect(() => demandOf('TFJob', bare)).toThrow('spec.tfReplicaSpecs: has a set of pods without a template');
  const { Worker } = (objectOf('TFJob', 1).spec as { tfReplicaSpecs: { Worker: object } }).tfReplicaSpecs;
  const twice = withField(objectOf('TFJob', 1), ['spec', 'tfReplicaSpecs', 'worker'], Worker) as KindObject;
  expect(() => demandOf('TFJob', twice)).toThrow('has two sets of pods of one name');
});
