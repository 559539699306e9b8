/** Which pods the simulated Job controller makes next: seen of the one of Kubernetes 1.37 (`manageJob`). */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { ObjectStore } from './object-store';
import { Random } from './random';
import { SimulatedApiserver } from './simulated-apiserver';
import { SimulatedClock } from './simulated-clock';
import { SimulatedJobs } from './simulated-jobs';

/** An array of 6 tasks, 3 at once. */
function array(spec: Partial<Job['spec']>) {
  let seconds = 0;
  const now = () => seconds;
  const store = new ObjectStore(now);
  const apiserver = new SimulatedApiserver(store, new SimulatedClock(), new Random(1), now);
  const controller = new SimulatedJobs(apiserver, now, { keepsStart: false, countsDeleted: true });
  store.create('namespaces', { metadata: { name: 'science' } });
  apiserver.create(jobs('science'), {
    metadata: { name: 'a' },
    spec: {
      parallelism: 3,
      completions: 6,
      completionMode: 'Indexed',
      template: { metadata: {}, spec: { containers: [] } },
      ...spec,
    },
  });
  const live = () => store.list<Pod>('pods').filter(({ status }) => status?.phase === 'Pending');
  const indexOf = ({ metadata }: Pod) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION];
  const sync = () => {
    seconds += 1;
    controller.sync(store.list<Job>('jobs')[0]!, store.list<Pod>('pods'));
    return live().map(indexOf);
  };
  const end = (index: string, phase: 'Succeeded' | 'Failed') => {
    store.put('pods', { ...live().find((pod) => indexOf(pod) === index)!, status: { phase } });
    return sync();
  };
  sync();
  return { sync, end };
}

test('an array makes no pod after a failure before its retry is due, or another pod succeeds', () => {
  const { sync, end } = array({});
  expect(sync()).toEqual(['0', '1', '2']);
  expect(end('0', 'Failed')).toEqual(['1', '2']);
  expect(end('1', 'Succeeded')).toEqual(['2', '0', '3']);
  expect(end('2', 'Failed')).toEqual(['0', '3']);
  expect([sync(), sync(), sync()].at(-1)).toEqual(['0', '3', '2']);
});

test('no later index comes in place of one that waits for a retry of its own', () => {
  const { sync, end } = array({ backoffLimitPerIndex: 2 });
  expect(sync()).toEqual(['0', '1', '2']);
  expect(end('0', 'Failed')).toEqual(['1', '2']);
  expect(end('1', 'Succeeded')).toEqual(['2', '3']);
  expect([sync(), sync(), sync()].at(-1)).toEqual(['2', '3', '0']);
});
