import { plain } from '../../examples/demo/styled';
import { table } from '../../examples/demo/table';
import { job, snapshot, T } from './rows';

const lines = (...args: Parameters<typeof table>) => table(...args).map(plain);

const JOBS = [
  job('wide', {
    letter: 'B',
    position: 1,
    start: { at: T + 65, kind: 'promised' },
    why: 'nodes are reserved for it',
  }),
  job('small', { position: 2, start: { at: T + 70, kind: 'planned' }, why: 'needs 1 pod with 4 cores' }),
  job('full', {
    letter: 'A',
    phase: 'Running',
    nodes: [{ name: 'node-3', units: {} }],
    start: { at: T, kind: 'started' },
  }),
];

test('says position, nodes, start with its sign, and why', () => {
  expect(lines(snapshot(JOBS), { width: 100, height: 10 })).toEqual([
    '   NAME   PHASE    POS  NODES   START      WHY',
    'B  wide   Waiting  1            ~16:01:05  nodes are reserved for it',
    '   small  Waiting  2            ?16:01:10  needs 1 pod with 4 cores',
    'A  full   Running       node-3  16:00:00',
  ]);
});

test('leaves out columns that are empty, and cuts what is too wide', () => {
  expect(lines(snapshot(JOBS), { width: 50, height: 3 })).toEqual([
    '   NAME   PHASE    POS  START      WHY',
    'B  wide   Waiting  1    ~16:01:05  nodes are rese…',
    '   small  Waiting  2    ?16:01:10  needs 1 pod wi…',
  ]);
});

test('shortens the nodes of a wide job', () => {
  const nodes = [0, 2, 4, 6, 8, 10].map((i) => ({ name: `node-${i}`, units: {} }));
  expect(lines(snapshot([job('wide', { phase: 'Running', nodes })]), { width: 80, height: 3 })[1]).toBe(
    '   wide  Running  node-[0,2,4,6…',
  );
});
