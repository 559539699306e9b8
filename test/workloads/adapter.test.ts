/** The times of a workload, as the kubelet reports them of its containers. */
import type { Pod } from '../../runtime/kubernetes/types';
import { firstStartTime, lastFinishTime } from '../../runtime/workloads/adapter';

type Status = NonNullable<Pod['status']>;
type State = NonNullable<NonNullable<Status['containerStatuses']>[number]['state']>;

const at = (second: number) => new Date(second * 1000).toISOString();
const ran = (from: number, to: number): State => ({
  terminated: { exitCode: 0, startedAt: at(from), finishedAt: at(to) },
});

function pod({ init, main, ...status }: { init?: State; main?: State } & Partial<Status>): Pod {
  return {
    metadata: { name: 'train-0', uid: 'uid', resourceVersion: '1', creationTimestamp: at(50) },
    spec: { containers: [] },
    status: {
      ...status,
      ...(init && { initContainerStatuses: [{ name: 'load', state: init }] }),
      ...(main && { containerStatuses: [{ name: 'main', state: main }] }),
    },
  };
}

test.each<[string, Pod, number]>([
  ['works in its init container', pod({ init: { running: { startedAt: at(100) } } }), 100],
  [
    'has left its init container',
    pod({ init: ran(100, 200), main: { running: { startedAt: at(201) } } }),
    100,
  ],
  ['has no init container', pod({ main: { running: { startedAt: at(110) } } }), 110],
  ['could not start one container', pod({ init: ran(0, 0), main: ran(120, 130) }), 120],
  ['was started, and says no more', pod({ startTime: at(90), main: { waiting: { reason: 'Again' } } }), 90],
  ['says nothing', pod({}), 999],
])('the work of a pod that %s is charged from its first container on', (_, one, second) =>
  expect(firstStartTime([one], 999)).toBe(second),
);

test.each<[string, Pod, number]>([
  ['in its init container', pod({ init: ran(100, 150) }), 150],
  ['in its last container', pod({ init: ran(100, 150), main: ran(151, 300) }), 300],
  ['without a word', pod({}), 999],
])('a pod that ended %s is charged until then', (_, one, second) =>
  expect(lastFinishTime([one], 999)).toBe(second),
);
