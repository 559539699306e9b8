import { ConcurrencyLimiter } from '../../runtime/kubernetes/concurrency-limiter';
import { settle } from './manual-clock';

test('runs as many writes as allowed in order, those of low priority last', async () => {
  const limiter = new ConcurrencyLimiter(2);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  let groups = 0;
  const write = (name: string, priority: 'normal' | 'low' = 'normal') =>
    limiter.run(priority, `group-${groups++}`, () => {
      began.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [write('a'), write('b'), write('event', 'low'), write('c'), write('d')];
  await settle();
  expect(began).toEqual(['a', 'b']);
  expect(limiter.waiting).toBe(3);
  for (let at = 0; at < all.length; at += 1) {
    ends[at]!();
    await settle();
  }
  await Promise.all(all);
  expect(began).toEqual(['a', 'b', 'c', 'd', 'event']);
});

test('lets the next write run after a failed one', async () => {
  const limiter = new ConcurrencyLimiter(1);
  await expect(limiter.run('normal', '', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(limiter.run('normal', '', async () => 'yes')).resolves.toBe('yes');
});

test('leaves half of the writes to others when those of one group get no answer, and lets groups take turns', async () => {
  const limiter = new ConcurrencyLimiter(4);
  const began: string[] = [];
  const answers: (() => void)[] = [];
  const write = (name: string, priority: 'normal' | 'low' = 'normal') =>
    limiter.run(priority, name[0]!, () => {
      began.push(name);
      return new Promise<void>((answer) => answers.push(answer));
    });
  const all = [
    write('a1'),
    write('a2'),
    write('a3'),
    write('a-event', 'low'),
    write('b1'),
    write('b2'),
    write('b3'),
    write('c1'),
  ];
  await settle();
  expect(began).toEqual(['a1', 'a2', 'b1', 'b2']);
  // The writes of b are answered; none of a is, and a has its half.
  for (const answer of answers.slice(2)) answer();
  await settle();
  expect(began.slice(4)).toEqual(['b3', 'c1']);
  expect(limiter.waiting).toBe(2);
  for (let at = 0; at < all.length; at += 1) {
    answers[at]?.();
    await settle();
  }
  await Promise.all(all);
  expect(began.slice(6)).toEqual(['a3', 'a-event']);
});
