import { Story } from '../../examples/demo/story';
import { row, runs, T } from './rows';

const reserved = { pods: 10, reason: 'Reserved', estimatedStart: T + 20 } as const;
const done = (at: number) => ({ ...runs('node-0', '0', at), phase: 'Finished', finishedAt: at + 1 }) as const;

test('tells of the reservation, of what went first behind it, and whether the promise was kept', () => {
  const story = new Story();
  const others = [
    row('before', 1, done(T + 1)),
    row('backfilled', 3, done(T + 5)),
    row('urgent', 4, { ...done(T + 6), priority: 10 }),
    row('waits', 5),
  ];
  expect(story.of([...others, row('wide', 2, { pods: 10 })])).toEqual([]);
  expect(story.of([...others, row('wide', 2, reserved)])).toEqual([
    'wide needs 10 nodes at once: reserved for it, at 16:00:20 at the latest; 1 submitted after it went first (backfill).',
  ]);
  expect(story.of([...others, row('wide', 2, { ...reserved, estimatedStart: T + 15 })])).toEqual([
    'wide needs 10 nodes at once: reserved for it, at 16:00:15 at the latest; 1 submitted after it went first (backfill).',
  ]);
  const later = row('later', 6, done(T + 30));
  expect(
    story.of([...others, later, row('wide', 2, { pods: 10, ...runs('node-0', '0-3', T + 12) })]),
  ).toEqual([
    'wide needs 10 nodes at once: promised for 16:00:20 at the latest, granted at 16:00:12; 1 submitted after it went first (backfill).',
  ]);
});

test('tells why the impossible one waits only when that is known', () => {
  const story = new Story();
  expect(story.of([row('impossible', 1)])).toEqual([]);
  expect(
    story.of([row('impossible', 1, { reason: 'Unsatisfiable', message: 'asks for 999 cores' })]),
  ).toEqual(['impossible asks for 999 cores: it waits and delays no other.']);
});

test('does not speak of a promise that was never made', () => {
  expect(new Story().of([row('wide', 1, runs('node-0', '0-3', T))])).toEqual([]);
});

test('says by what a promise moved, while it waits and when it is granted', () => {
  const story = new Story();
  const others = [row('long', 1, runs('node-0', '0', T)), row('short', 3, done(T + 5))];
  story.of([...others, row('wide', 2, { ...reserved, estimatedStart: T + 10 })]);
  expect(story.of([...others, row('wide', 2, reserved)])[0]).toContain(
    'at 16:00:20 at the latest, 10 s after its first promise: long ran past the walltime; 1 submitted',
  );
  const ended = row('long', 1, { ...runs('node-0', '0', T), phase: 'Finished', finishedAt: T + 21 });
  const granted = row('wide', 2, { pods: 10, ...runs('node-0', '0-3', T + 22) });
  expect(story.of([ended, granted])[0]).toContain(
    'promised for 16:00:10 at the latest, granted at 16:00:22, 12 s after its first promise: long ran past the walltime',
  );
  expect(story.of([granted])[0]).toContain('12 s after its first promise: its nodes were not free in time');
});
