import { parseNodes, parsePolicies, variantsOf } from '../../runtime/simulation/variants';

test.each([
  ['128', [128]],
  ['128,+20,256', [128, 148, 256]],
  ['8,+8,16', [8, 16]],
])('%s nodes', (text, nodes) => {
  expect(parseNodes(text)).toEqual(nodes);
});

test.each(['', '+8', '0', '8,', '1.5', '8,-1', '100001', '8,+99999', '1e3'])(
  '"%s" is no number of nodes',
  (text) => {
    expect(() => parseNodes(text)).toThrow('must be whole numbers from 1 to 100000');
  },
);

test('policies are named, or all', () => {
  expect(parsePolicies('easy,hybrid,easy')).toEqual(['easy', 'hybrid']);
  expect(parsePolicies('all')).toEqual(['fcfs', 'easy', 'conservative', 'hybrid']);
  expect(() => parsePolicies('easy,')).toThrow(
    'must be all, or one or more of fcfs, easy, conservative, hybrid.',
  );
});

test('labels name what differs', () => {
  const labels = (...args: Parameters<typeof variantsOf>) => variantsOf(...args).map(({ label }) => label);
  expect(labels(['easy'], [8], 4)).toEqual(['easy']);
  expect(labels(['easy', 'fcfs'], [8], 4)).toEqual(['easy', 'fcfs']);
  expect(labels(['easy'], [8, 16], 4)).toEqual(['8 nodes', '16 nodes']);
  expect(labels(['easy', 'fcfs'], [8, 16], 4)).toHaveLength(4);
});
