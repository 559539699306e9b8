/**
 * Prints the ten slowest suites at the end of a run. With RECORD_DURATIONS=1, which `npm run -s durations` sets, it also writes
 * durations.json, by which the sequencer sorts.
 */
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const SHOWN = 10;

module.exports = class Slowest {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, { testResults }) {
    const suites = testResults
      .filter(({ skipped }) => !skipped)
      .map(({ testFilePath, perfStats: { start, end } }) => ({
        suite: relative(this.rootDir, testFilePath),
        seconds: Math.round((end - start) / 1000),
      }))
      .sort((a, b) => b.seconds - a.seconds || a.suite.localeCompare(b.suite));
    if (suites.length > SHOWN) {
      const lines = suites
        .slice(0, SHOWN)
        .map(({ suite, seconds }) => `${String(seconds).padStart(5)} s  ${suite}`);
      process.stderr.write(`The slowest suites:\n${lines.join('\n')}\n`);
    }
    if (process.env.RECORD_DURATIONS !== '1') return;
    const file = join(this.rootDir, 'test', 'jest', 'durations.json');
    // A suite that had not its day keeps its duration.
    const seconds = JSON.parse(readFileSync(file, 'utf8'));
    for (const one of suites) seconds[one.suite] = one.seconds;
    const recorded = Object.entries(seconds)
      .filter(([suite, time]) => time > 1 && existsSync(join(this.rootDir, suite)))
      .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(recorded), null, 2)}\n`);
  }
};
