/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Builds the control plane, once per machine, before any test that needs it, and starts what all suites share.
  globalSetup: '<rootDir>/test/cluster/global-setup.ts',
  globalTeardown: '<rootDir>/test/cluster/global-teardown.ts',
  testSequencer: '<rootDir>/test/jest/sequencer.js',
  reporters: ['default', '<rootDir>/test/jest/slowest.js'],
  testEnvironment: '<rootDir>/test/jest/environment.ts',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  // A third worker uses the cores while suites of the others wait. One control plane takes about 1 GB.
  maxWorkers: 3,
  // The only limit of tests and hooks, for what hangs: waits give up before, also on a machine that has no time (test/cluster/wait.ts).
  testTimeout: 900_000,
};
