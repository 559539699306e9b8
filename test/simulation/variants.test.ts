import {
  parseNodes,
  parsePolicies,
  parseReservations,
  sizesOf,
  variantsOf,
} from '../../runtime/simulation/variants';

test.each([
  ['128', [128]],
  ['128,+20,256', [128, 148, 256]],
  ['128,+72,200', [128, 200]],
  ['+20', [128, 148]],
  ['+20,256,+40', [128, 148, 256, 168]],
])('%s nodes on a machine of 128', (text, nodes) => {
  expect(sizesOf(parseNodes(text), 128)).toEqual(nodes);
});

test('without a number only the machine is simulated', () => {
  expect(sizesOf([], 128)).toEqual([128]);
});

test('reservations are whole numbers', () => {
  expect(parseReservations('8,16,8')).toEqual([8, 16]);
  for (const text of ['', '0', '1.5', '8,', 'x', '100001'])
    expect(() => parseReservations(text)).toThrow(
      'must be whole numbers from 1 to 100000, separated by commas.',
    );
});

test.each(['', '+', '0', '8,', '1.5', '8,-1', '100001', '++8', '1e3'])(
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

const OFF = { label: 'no fair share' };
const ON = { label: 'fair share', weights: new Map() };
const CHOICES = {
  policies: ['easy'],
  reservations: [],
  sizes: [8],
  coresPerNode: 4,
  sharings: [OFF],
} as const;

test.each([
  [{}, ['easy']],
  [{ policies: ['easy', 'fcfs'] }, ['easy', 'fcfs']],
  [{ sizes: [8, 16] }, ['8 nodes', '16 nodes']],
  [{ sharings: [OFF, ON] }, ['no fair share', 'fair share']],
  [{ policies: ['easy', 'hybrid'], reservations: [4] }, ['easy', 'hybrid']],
  [{ policies: ['easy', 'hybrid'], reservations: [4, 8] }, ['easy', 'hybrid 4', 'hybrid 8']],
  [
    { policies: ['easy', 'fcfs'], sizes: [8, 16] },
    ['easy, 8 nodes', 'easy, 16 nodes', 'fcfs, 8 nodes', 'fcfs, 16 nodes'],
  ],
  [
    { sizes: [8, 16], sharings: [ON, OFF] },
    ['8 nodes, fair share', '8 nodes, no fair share', '16 nodes, fair share', '16 nodes, no fair share'],
  ],
] as const)('labels name what differs: %j', (differing, labels) => {
  expect(variantsOf({ ...CHOICES, ...differing }).map(({ label }) => label)).toEqual(labels);
});

test('only hybrid has reservations', () => {
  const variants = variantsOf({ ...CHOICES, policies: ['easy', 'hybrid'], reservations: [4] });
  expect(variants.map(({ policy, reservations }) => [policy, reservations])).toEqual([
    ['easy', undefined],
    ['hybrid', 4],
  ]);
});
