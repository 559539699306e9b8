/** Jest blocks that run against the real thing, and say so in one line where there is none. */
import { controlPlaneAvailable } from './assets';
import { type Cluster, type ClusterOptions, startCluster } from './cluster';
import { NO_CONTROL_PLANE } from './no-control-plane';
import { type Postgres, type PostgresOptions, postgresAvailable, startPostgres } from './postgres';

/** Milliseconds for a start on a busy machine; a start takes 3 s to 5 s on an idle one. */
const START_TIMEOUT = 120_000;

/**
 * Declares tests that share one cluster, started before the first and stopped
 * after the last. `getCluster` works inside tests and hooks only.
 */
export function describeCluster(
  name: string,
  tests: (getCluster: () => Cluster) => void,
  options: ClusterOptions = {},
): void {
  const failed = process.env[NO_CONTROL_PLANE];
  const possible = failed ? { available: false as const, reason: failed } : controlPlaneAvailable();
  describeFixture('cluster', name, tests, possible, () => startCluster(options));
}

/** Declares tests that share one Postgres with an empty database. */
export function describePostgres(
  name: string,
  tests: (getPostgres: () => Postgres) => void,
  options: PostgresOptions = {},
): void {
  describeFixture('Postgres', name, tests, postgresAvailable(), () => startPostgres(options));
}

type Possible = { available: true } | { available: false; reason: string };

function describeFixture<T extends { stop(): Promise<void> }>(
  kind: string,
  name: string,
  tests: (get: () => T) => void,
  possible: Possible,
  start: () => Promise<T>,
): void {
  let fixture: T | undefined;
  const get = (): T => {
    if (fixture === undefined) throw new Error(`the ${kind} exists only inside tests and hooks of "${name}"`);
    return fixture;
  };
  if (!possible.available) {
    leaveOut(kind, name, () => tests(get), possible.reason);
    return;
  }
  describe(name, () => {
    beforeAll(async () => {
      fixture = await start();
    }, START_TIMEOUT);
    afterAll(async () => {
      await fixture?.stop();
      fixture = undefined;
    }, START_TIMEOUT);
    tests(get);
  });
}

/** Skips the block here; in CI, where the real thing must be had, it fails instead. */
function leaveOut(kind: string, name: string, tests: () => void, reason: string): void {
  if (process.env.CI === 'true') {
    describe(name, () => {
      test(`has a ${kind}`, () => {
        throw new Error(`no ${kind} for the tests: ${reason}`);
      });
    });
    return;
  }
  describe.skip(name, tests);
  process.stderr.write(`left out: the ${kind} tests of "${name}" (${reason})\n`);
}
