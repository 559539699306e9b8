import { Recording } from '../../examples/demo/recording';
import { Screen } from '../../examples/demo/screen';
import { job, snapshot, T } from './rows';

const JOB = job('small', {
  letter: 'A',
  phase: 'Running',
  nodes: [{ name: 'node-0', units: { core: '0-1' } }],
  start: { at: T, kind: 'started' },
  end: T + 4,
});

function terminal(columns: number, rows: number) {
  const written: string[] = [];
  return { written, out: { write: (text: string) => written.push(text), isTTY: true, columns, rows } };
}

let saved: NodeJS.ProcessEnv;
beforeEach(() => {
  saved = { ...process.env };
  delete process.env.NO_COLOR;
  process.env.TERM = 'xterm-256color';
});
afterEach(() => {
  process.env = saved;
});

test('replaces the picture on a terminal, without a line more than it has', () => {
  const { out, written } = terminal(80, 24);
  const screen = new Screen(out);
  const many = Array.from({ length: 60 }, (_, i) => job(`waits-${i}`, { position: i + 1 }));
  screen.show(snapshot([...many, JOB]));
  const lines = written[0]!.split('\n').length - 1;
  expect(lines).toBeLessThanOrEqual(23);
  screen.show(snapshot([JOB]));
  expect(written[1]).toMatch(new RegExp(`^\u001b\\[${lines}A\r`));
  expect(written[1]!.endsWith('\u001b[J')).toBe(true);
});

test('keeps the last picture above a line that stays', () => {
  const { out, written } = terminal(80, 24);
  const screen = new Screen(out);
  screen.show(snapshot([JOB]));
  screen.print('done');
  screen.show(snapshot([JOB]));
  expect(written[2]!.startsWith('\r')).toBe(true);
});

test('has colours on a terminal, and none with NO_COLOR', () => {
  const colours = '\u001b[31m';
  const first = terminal(80, 24);
  new Screen(first.out).show(snapshot([JOB]));
  expect(first.written[0]).toContain(colours);
  process.env.NO_COLOR = '1';
  const second = terminal(80, 24);
  new Screen(second.out).show(snapshot([JOB]));
  expect(second.written[0]).not.toContain(colours);
  expect(second.written[0]).toContain('node-0 AA..');
});

test.each([
  { isTTY: false, term: 'xterm' },
  { isTTY: true, term: 'dumb' },
])('writes plain lines every ten seconds with %j, and none twice', ({ isTTY, term }) => {
  process.env.TERM = term;
  const written: string[] = [];
  let now = 0;
  const screen = new Screen({ write: (text) => written.push(text), isTTY }, { now: () => now });
  const story = ['impossible waits.'];
  screen.show(snapshot([JOB], { story }), ['SIMULATION']);
  now = 9_999;
  screen.show(snapshot([], { story }), ['SIMULATION']);
  now = 10_000;
  screen.show(snapshot([], { story }), ['SIMULATION']);
  expect(written).toEqual([
    'SIMULATION\n',
    '1 workload: waiting 0, ready 0, running 1, finished 0\n',
    'impossible waits.\n',
    '0 workloads: waiting 0, ready 0, running 0, finished 0\n',
  ]);
});

test('tells a new run from the start', () => {
  const written: string[] = [];
  const screen = new Screen({ write: (text) => written.push(text) }, { now: () => 0 });
  screen.show(snapshot([JOB]));
  screen.clear();
  screen.show(snapshot([JOB]));
  expect(written).toHaveLength(2);
});

test('progress is one line that changes on a terminal, and a line every ten seconds elsewhere', () => {
  const { out, written } = terminal(20, 24);
  const live = new Screen(out);
  live.progress('building: 1 of 2 packages');
  live.progress('building: 2 of 2 packages');
  expect(written[0]).toBe('\rbuilding: 1 of 2 pac\u001b[K\n\u001b[J');
  expect(written[1]).toBe('\u001b[1A\rbuilding: 2 of 2 pac\u001b[K\n\u001b[J');
  const lines: string[] = [];
  let now = 0;
  const logged = new Screen({ write: (text) => lines.push(text) }, { now: () => now });
  for (now = 0; now <= 20_000; now += 1_000) logged.progress(`at ${now}`);
  expect(lines).toEqual(['at 0\n', 'at 10000\n', 'at 20000\n']);
});

test('records the real run only', () => {
  const recording = new Recording();
  const screen = new Screen({ write: () => true }, { recording });
  screen.show(snapshot([JOB], { story: ['of the simulation'] }), ['SIMULATION']);
  screen.show(snapshot([JOB], { story: ['of the real run'] }));
  expect(recording.svg()).toContain('of the real run');
  expect(recording.svg()).not.toContain('of the simulation');
});
