import { ConcurrencyLimiter } from '../../runtime/kubernetes/concurrency-limiter';
import { settle } from './manual-clock';

test('runs as many as allowed, in order, low ones last', async () => {
  const slots = new ConcurrencyLimiter(2);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const write = (name: string, low = false) =>
    slots.run(low, () => {
      began.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [write('a'), write('b'), write('news', true), write('c'), write('d')];
  await settle();
  expect(began).toEqual(['a', 'b']);
  expect(slots.waiting).toBe(3);
  for (let at = 0; at < all.length; at += 1) {
    ends[at]!();
    await settle();
  }
  await Promise.all(all);
  expect(began).toEqual(['a', 'b', 'c', 'd', 'news']);
});

test('a failed write gives its slot back', async () => {
  const slots = new ConcurrencyLimiter(1);
  await expect(slots.run(false, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(slots.run(false, async () => 'yes')).resolves.toBe('yes');
});
