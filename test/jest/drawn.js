/**
 * The suites that cost most show a whole program, or a long story; what they put together has suites of its own. So each of them runs every
 * fourth day: another fourth each day, all of them in the nightly run (NIGHTLY=1), and each wherever it is named. The list has their seconds of
 * the processor, by which the days cost the same.
 */
const suites = require('./drawn.json');

const DAYS = 4;

/** As in ../seed.ts, which Jest cannot compile yet when it reads its configuration. */
const dayOfYear = (now) => Math.floor((now.getTime() - Date.UTC(now.getUTCFullYear())) / 86_400_000) + 1;

/** The suites of each day: the longest ones first, each on the day that has the least to do. */
function byDay() {
  const days = Array.from({ length: DAYS }, () => ({ seconds: 0, suites: [] }));
  for (const [suite, seconds] of Object.entries(suites).sort((a, b) => b[1] - a[1])) {
    const [least] = [...days].sort((a, b) => a.seconds - b.seconds);
    least.seconds += seconds;
    least.suites.push(suite);
  }
  return days.map((day) => day.suites);
}

/**
 * Patterns of the suites that do not run today. It also fixes the seed of all random tests of this run.
 *
 * @param {readonly string[]} args of Jest
 */
function notToday(args) {
  const given = process.env.PROPERTY_SEED ?? dayOfYear(new Date());
  const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  process.env.PROPERTY_SEED = String(seed);
  const namesSome = args.some((arg) => !arg.startsWith('-'));
  if (namesSome || process.env.NIGHTLY === '1') return [];
  return byDay()
    .filter((_, day) => day !== seed % DAYS)
    .flat()
    .map((suite) => `/${suite}\\.test\\.ts$`);
}

module.exports = { byDay, notToday };
