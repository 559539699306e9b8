/** Starts the longest suites first, by the durations of a recorded run (durations.json), so that no worker ends late. */
const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const durations = require('./durations.json');

/** A suite that nobody has recorded is short or new. */
const UNKNOWN_SECONDS = 1;

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const seconds = ({ path, context }) =>
      durations[relative(context.config.rootDir, path)] ?? UNKNOWN_SECONDS;
    return [...tests].sort((a, b) => seconds(b) - seconds(a) || a.path.localeCompare(b.path));
  }
};
