import type { Pod } from '../../runtime/kubernetes/types';
import { answeringScheduler, schedulersOf } from '../../runtime/shared/schedulers';
import { FakeInformer, metadata } from './fake-informer';

const pod = (name: string, schedulerName: string | undefined, isAnswered: boolean): Pod => ({
  metadata: metadata(name),
  spec: { containers: [], ...(schedulerName === undefined ? {} : { schedulerName }) },
  status: { conditions: isAnswered ? [{ type: 'PodScheduled', status: 'False' }] : [] },
});

test('knows the schedulers that have answered for a pod, also when that pod is gone', () => {
  const pods = new FakeInformer<Pod>({ scheduler: answeringScheduler });
  const runs = schedulersOf(pods.asInformer());
  pods.set(pod('a', undefined, true));
  pods.set(pod('b', 'other', false));
  expect([runs('default-scheduler'), runs('other')]).toEqual([true, false]);
  pods.delete('a');
  pods.set(pod('b', 'other', true));
  expect([runs('default-scheduler'), runs('other'), runs('nobody')]).toEqual([true, true, false]);
});

test('takes no pod for answered because the apiserver says that it is gated', () => {
  const gated = { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' } as const;
  const pods = new FakeInformer<Pod>({ scheduler: answeringScheduler });
  pods.set({ ...pod('a', 'volcano', true), status: { conditions: [gated] } });
  expect(schedulersOf(pods.asInformer())('volcano')).toBe(false);
  pods.set({ ...pod('a', 'volcano', true), status: { conditions: [{ ...gated, reason: 'Unschedulable' }] } });
  expect(schedulersOf(pods.asInformer())('volcano')).toBe(true);
});

test('does not list all pods for a scheduler that never answers', () => {
  const byIndex = jest.fn(() => []);
  const runs = schedulersOf({ byIndex });
  expect([runs('nobody'), runs('nobody')]).toEqual([false, false]);
  expect(byIndex.mock.calls).toEqual([
    ['scheduler', 'nobody'],
    ['scheduler', 'nobody'],
  ]);
});
