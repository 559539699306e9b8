const production = process.argv.includes('--production');

/**
 * Dead code. `knip` checks the whole repository, `knip --production` what is shipped or run as a command: there, code that
 * only tests use is dead, too. An export for tests alone has the tag `@internal`.
 *
 * @type {import('knip').KnipConfig}
 */
module.exports = {
  entry: [
    'main.ts!',
    'constructs/index.ts!',
    'runtime/dashboard/browser/main.ts!',
    ...(production
      ? [
          'runtime/main.ts!',
          'release/images.ts!',
          'release/image-digests.ts!',
          'release/krew.ts!',
          'release/package.ts!',
          'release/helm/main.ts!',
          // Its file is a part of the bundle.
          'runtime/simulation/embed.ts!',
        ]
      : []),
    'test/**/*.test.ts',
    'test/bench/*.ts',
    // Loaded by the environment of Jest, outside the sandbox of the tests.
    'test/cluster/shared/pool.ts',
    'test/jest/second-try.ts',
    'examples/**/*.ts',
  ],
  project: [
    'constructs/**/*.ts!',
    'runtime/**/*.ts!',
    'release/**/*.ts!',
    // Generators of committed files.
    '!constructs/crds/status-types.ts!',
    '!constructs/gitops/embed.ts!',
    '!constructs/minicluster/shell/embed.ts!',
    '!runtime/dashboard/embed.ts!',
    'test/**/*.ts',
    'examples/**/*.ts',
  ],
  ignore: ['runtime/fluxion/generated/**'],
  ignoreDependencies: ['ts-proto'],
  ignoreBinaries: [
    'go',
    'helm',
    'ip',
    'kind',
    'kubectl',
    'nsenter',
    'shellcheck',
    ...(production ? ['tsx'] : []),
  ],
  // Many exports that only tests use are also used in their own file, which is no dead code.
  ignoreExportsUsedInFile: production,
};
