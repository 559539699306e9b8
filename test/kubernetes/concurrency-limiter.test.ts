import { ConcurrencyLimiter } from '../../runtime/kubernetes/concurrency-limiter';
import { settle } from './manual-clock';

test('runs as many writes as allowed in order, those of low priority last', async () => {
  const limiter = new ConcurrencyLimiter(2);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const write = (name: string, priority: 'normal' | 'low' = 'normal') =>
    limiter.run(priority, () => {
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
  await expect(limiter.run('normal', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(limiter.run('normal', async () => 'yes')).resolves.toBe('yes');
});
