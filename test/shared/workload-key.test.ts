import { formatKey, parseKey } from '../../runtime/shared/workload-key';
import { rowIn } from '../queue/rows';

test('a key has the same kind, namespace and name after formatting and parsing', () => {
  const row = rowIn('Running', { kind: 'Pod', namespace: 'science', name: 'a.b-c' });
  expect(formatKey(row)).toBe('Pod/science/a.b-c');
  expect(parseKey(formatKey(row))).toEqual({ kind: 'Pod', namespace: 'science', name: 'a.b-c' });
});
