/** Jest blocks that run against the whole system. */
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { type PostgresOptions, startPostgres } from '../cluster/postgres';
import { describeCluster } from '../cluster/suite';
import { Stack, type StackOptions } from './stack';
import { Namespace } from './workloads';

export interface StackSuiteOptions extends StackOptions {
  readonly postgres?: PostgresOptions;
}

export interface Fixture {
  readonly stack: Stack;
  /** As the cluster's admin. */
  readonly client: KubernetesClient;
  /** The queue's tables, to look at. */
  readonly queue: Queue;
}

const START_TIMEOUT = 120_000;

/**
 * Declares tests that share one control plane and Postgres with the stack
 * applied; roles are started by the tests. `getFixture` works inside tests and
 * hooks only.
 */
export function describeStack(
  name: string,
  tests: (getFixture: () => Fixture) => void,
  options: StackSuiteOptions = {},
): void {
  describeCluster(
    name,
    (getCluster) => {
      let fixture: Fixture | undefined;
      beforeAll(async () => {
        const postgres = await startPostgres(options.postgres);
        const stack = new Stack(getCluster(), postgres, options);
        const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
        const queue = openQueue({ url: postgres.url, units: DEFAULT_UNITS });
        fixture = { stack, client, queue };
        await queue.migrate();
        await stack.apply();
      }, START_TIMEOUT);
      afterAll(async () => {
        fixture?.client.close();
        await fixture?.queue.close();
        await fixture?.stack.stop();
      }, START_TIMEOUT);
      tests(() => fixture!);
    },
    options.cluster,
  );
}

/** Starts a controller with Fluxion as its sidecar or in its own process. All tests share a namespace. */
export function inOneNamespace(
  getFixture: () => Fixture,
  use: (science: Namespace) => void,
  fluxion: 'sidecar' | 'embedded' = 'embedded',
): void {
  beforeAll(async () => {
    const { stack } = getFixture();
    if (fluxion === 'sidecar') await stack.roles.startFluxion();
    const address = fluxion === 'sidecar' ? stack.roles.fluxionAddress : fluxion;
    await stack.startController({ fluxion: { address } });
    use(await Namespace.create(getFixture, 'science'));
  }, START_TIMEOUT);
}

/** Starts a controller. Each test has a namespace of its own, and the next one finds an empty cluster. */
export function eachInFreshNamespace(getFixture: () => Fixture, use: (namespace: Namespace) => void): void {
  let made: Namespace;
  beforeAll(async () => {
    await getFixture().stack.startController();
  }, START_TIMEOUT);
  beforeEach(async () => {
    made = await Namespace.create(getFixture, `science-${Math.random().toString(36).slice(2, 8)}`);
    use(made);
  });
  afterEach(async () => {
    const path = `${jobs(made.name)}?propagationPolicy=Background`;
    await getFixture().stack.cluster.request('DELETE', path);
    await made.finished();
  });
}
