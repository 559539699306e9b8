/** Jest blocks with a real cluster or Postgres; they are skipped with a message where it is not available. */
import { controlPlaneAvailable } from './assets';
import { type Cluster, type ClusterOptions, startCluster } from './cluster';
import { NO_CONTROL_PLANE } from './no-control-plane';
import { type Postgres, type PostgresOptions, postgresAvailable, startPostgres } from './postgres';
import { lease } from './shared/lease';

/**
 * Declares tests that have the shared control plane of their worker for themselves: without scheduler and nodes, with the kinds
 * of the project. What they leave is deleted after them; objects that were there before them they may not change.
 * `getCluster` is available inside tests and hooks only.
 */
export function describeCluster(name: string, tests: (getCluster: () => Cluster) => void): void {
  describeWithCluster(name, tests, () => lease('apiserver'));
}

/** As {@link describeCluster}, with a cluster that starts before the first test and stops after the last. */
export function describeOwnCluster(
  name: string,
  tests: (getCluster: () => Cluster) => void,
  options: ClusterOptions = {},
): void {
  describeWithCluster(name, tests, () => startCluster(options));
}

/** As {@link describeCluster}, with a fixture that has more than a cluster. */
export function describeWithCluster<T extends { stop(): Promise<void> }>(
  name: string,
  tests: (getFixture: () => T) => void,
  start: () => Promise<T>,
): void {
  const failed = process.env[NO_CONTROL_PLANE];
  const possible = failed ? { available: false as const, reason: failed } : controlPlaneAvailable();
  describeFixture('cluster', name, tests, possible, start);
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
    if (fixture === undefined)
      throw new Error(`the ${kind} is available only inside tests and hooks of "${name}"`);
    return fixture;
  };
  if (!possible.available) {
    skipBlock(kind, name, () => tests(get), possible.reason);
    return;
  }
  describe(name, () => {
    beforeAll(async () => {
      fixture = await start();
    });
    afterAll(async () => {
      await fixture?.stop();
      fixture = undefined;
    });
    tests(get);
  });
}

/** Skips the block; in CI, where cluster and Postgres are required, it fails instead. */
function skipBlock(kind: string, name: string, tests: () => void, reason: string): void {
  if (process.env.CI === 'true') {
    describe(name, () => {
      test(`has a ${kind}`, () => {
        throw new Error(`no ${kind} for the tests: ${reason}`);
      });
    });
    return;
  }
  describe.skip(name, tests);
  process.stderr.write(`skipped: the ${kind} tests of "${name}" (${reason})\n`);
}
