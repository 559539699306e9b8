import { parseAnyWorkload } from '../../runtime/cli/workload-names';

test.each([
  ['train', ['Job', 'Pod'], 'train', undefined],
  ['job/train', ['Job'], 'train', undefined],
  ['Pods/train', ['Pod'], 'train', undefined],
  ['science/train', ['Job', 'Pod'], 'train', 'science'],
])('%s', (text, kinds, name, namespace) => {
  const parsed = parseAnyWorkload(text);
  expect(parsed.kinds.map(({ kind }) => kind)).toEqual(kinds);
  expect([parsed.name, parsed.namespace]).toEqual([name, namespace]);
});

test.each(['/train', 'science/', 'a/b/c', 'job/'])('%s is refused', (text) => {
  expect(() => parseAnyWorkload(text)).toThrow('FLUXQ_WORKLOAD_NAME');
});
