import type { NamedLogEntry } from '../../../runtime/queue/history';
import { histories } from '../../../runtime/reader/answers/histories';

const request = {
  reader: { username: 'ada', groups: [], extra: {} },
  namespace: 'a',
  name: 'train',
  query: new URLSearchParams(),
  signal: new AbortController().signal,
};

const entry: NamedLogEntry = {
  at: 1_700_000_000.5,
  uid: 'u-1',
  kind: 'Job',
  event: 'Submitted',
  actor: 'ada',
  why: 'was admitted and added to the queue',
  detail: {},
};

test('has the entries of all workloads of the name in the namespace', async () => {
  const asked: string[] = [];
  const queue = {
    historyOf: async (namespace: string, name: string) => {
      asked.push(`${namespace}/${name}`);
      return [entry];
    },
  };
  expect(await histories(async () => queue).answer(request)).toEqual({
    apiVersion: 'queue.converged-computing.org/v1alpha1',
    kind: 'History',
    metadata: { name: 'train', namespace: 'a' },
    entries: [
      {
        at: '2023-11-14T22:13:20.500Z',
        uid: 'u-1',
        kind: 'Job',
        event: 'Submitted',
        actor: 'ada',
        message: 'was admitted and added to the queue',
      },
    ],
  });
  expect(asked).toEqual(['a/train']);
});

test('of a name that never was is not found', async () => {
  const nothing = histories(async () => ({ historyOf: async () => [] }));
  await expect(nothing.answer(request)).rejects.toThrow(
    /^FLUXQ_HISTORY_NOT_FOUND: a\/train: no workload of this name was ever queued; check the name/,
  );
});
