import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { makerOf } from '../../runtime/shared/makers';
import { FakeInformer, metadata } from './fake-informer';

const TRAINER = 'system:serviceaccount:kubeflow-system:kubeflow-trainer-controller-manager';
const trainJob: KubernetesObject = {
  metadata: metadata('train', { namespace: 'science', annotations: { [USER_ANNOTATION]: 'alice' } }),
};
const owner = {
  apiVersion: 'trainer.kubeflow.org/v1alpha1',
  kind: 'TrainJob',
  name: 'train',
  uid: trainJob.metadata.uid,
  controller: true,
};
const jobSet = (owners: readonly object[], user = TRAINER, name = 'train'): KubernetesObject => ({
  metadata: metadata(name, {
    namespace: 'science',
    annotations: { [USER_ANNOTATION]: user },
    ownerReferences: owners as never,
  }),
});

describe('what a controller made for a TrainJob', () => {
  let trainJobs: FakeInformer<KubernetesObject>;
  const ask = (object: KubernetesObject, kind = 'JobSet') =>
    makerOf({ makers: new Map([['JobSet', trainJobs.asInformer()]]) }, kind, object);
  beforeEach(() => {
    trainJobs = new FakeInformer();
  });

  test('counts for that, once the watch has shown it', () => {
    expect(ask(jobSet([owner]))).toBe('awaited');
    trainJobs.set(trainJob);
    expect(ask(jobSet([owner]))).toBe(trainJob);
    expect(ask(jobSet([{ ...owner, uid: 'earlier' }]))).toBe('awaited');
  });

  test.each<[string, KubernetesObject]>([
    ['without an owner', jobSet([])],
    ['of a person', jobSet([owner], 'mallory')],
    ['of an account of its own namespace', jobSet([owner], 'system:serviceaccount:science:builder')],
    ['under another name', jobSet([{ ...owner, name: 'other' }])],
    ['of an owner that does not control it', jobSet([{ ...owner, controller: false }])],
    ['of an owner of another group', jobSet([{ ...owner, apiVersion: 'example.com/v1alpha1' }])],
    ['of an owner of another kind', jobSet([{ ...owner, kind: 'TrainingRuntime' }])],
  ])('counts for its own creator %s', (_, object) => {
    trainJobs.set(trainJob);
    expect(ask(object)).toBeUndefined();
  });

  test('counts for its own creator if it is of another kind', () => {
    trainJobs.set(trainJob);
    expect(ask(jobSet([owner]), 'MPIJob')).toBeUndefined();
  });
});
