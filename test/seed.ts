/**
 * The seed of random tests: another one each day of the year, so that the same commit is tried with other cases every day.
 * `PROPERTY_SEED=329` repeats a day, `PROPERTY_SEED=random` takes a new seed each time.
 */
import { Random } from './fuzz/random';

const DAY_MS = 86_400_000;

/** 1 on the first of January, in UTC. */
export const dayOfYear = (now: Date): number =>
  Math.floor((now.getTime() - Date.UTC(now.getUTCFullYear())) / DAY_MS) + 1;

/** PROPERTY_SEED. @default - the day of the year */
export function seedOfToday(): number {
  const given = process.env.PROPERTY_SEED;
  if (given === undefined) return dayOfYear(new Date());
  return given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number.parseInt(given, 10);
}

/**
 * Another choice of so many items each day, in the order of the items; all of them with NIGHTLY=1. As many days in a row as that takes
 * choose each item once, and the next days put them together in another way.
 */
export function drawOf<T>(items: readonly T[], count: number, seed = seedOfToday()): T[] {
  if (process.env.NIGHTLY === '1') return [...items];
  const days = Math.ceil(items.length / count);
  const random = new Random(Math.floor(seed / days));
  const ranked = items.map((_, index) => ({ index, rank: random.next() })).sort((a, b) => a.rank - b.rank);
  const first = (seed % days) * count;
  // The last day of the row fills up with items of its first day.
  const chosen = new Set([...ranked, ...ranked].slice(first, first + count).map(({ index }) => index));
  return items.filter((_, index) => chosen.has(index));
}
