/** Jest blocks that run against the whole system. */
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { ClusterOptions } from '../cluster/cluster-options';
import { startPostgres } from '../cluster/postgres';
import { lease } from '../cluster/shared/lease';
import { describeWithCluster } from '../cluster/suite';
import { Stack, type StackOptions, startStack } from './stack';
import { Namespace } from './workloads';

export interface Fixture {
  readonly stack: Stack;
  /** As the cluster's admin. */
  readonly client: KubernetesClient;
  /** The queue's tables, to look at. */
  readonly queue: Queue;
}

/** The nodes of a suite on the shared stack. */
export type SharedStackOptions = Pick<ClusterOptions, 'nodes' | 'nodeShape'>;

/**
 * Declares tests that have the shared control plane with the default stack, and a database, for themselves; roles are started by
 * the tests, and the user ADA exists. What they leave is deleted after them; the objects of the stack they may not change.
 * `getFixture` works inside tests and hooks only.
 */
export function describeStack(
  name: string,
  tests: (getFixture: () => Fixture) => void,
  { nodes = 0, nodeShape = {} }: SharedStackOptions = {},
): void {
  describeWithCluster(name, tests, async () => {
    const [cluster, postgres] = await Promise.all([lease('stack', { nodeShape }), startPostgres()]);
    if (nodes > 0) await cluster.addNodes(nodes);
    return fixtureOf(new Stack(cluster, postgres, {}));
  });
}

/** As {@link describeStack}, with a control plane, a Postgres and a stack that start before the first test. */
export function describeOwnStack(
  name: string,
  tests: (getFixture: () => Fixture) => void,
  options: StackOptions | (() => Promise<StackOptions>) = {},
): void {
  const given = async () => (typeof options === 'function' ? options() : options);
  describeWithCluster(name, tests, async () => fixtureOf(await startStack(await given())));
}

async function fixtureOf(stack: Stack): Promise<Fixture & { stop(): Promise<void> }> {
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  const stop = async () => {
    client.close();
    await queue.close();
    await stack.stop();
  };
  try {
    await queue.migrate();
    return { stack, client, queue, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
  });
}

/** Starts a controller. Each test has a namespace of its own, and the next one finds an empty cluster. */
export function eachInFreshNamespace(getFixture: () => Fixture, use: (namespace: Namespace) => void): void {
  let made: Namespace;
  beforeAll(async () => {
    await getFixture().stack.startController();
  });
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
