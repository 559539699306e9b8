/** Jest blocks that run against the whole system. */
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { describeWithCluster } from '../cluster/suite';
import { type Stack, type StackOptions, startStack } from './stack';
import { Namespace } from './workloads';

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
  options: StackOptions = {},
): void {
  describeWithCluster(name, tests, () => startFixture(options));
}

async function startFixture(options: StackOptions): Promise<Fixture & { stop(): Promise<void> }> {
  const stack = await startStack(options);
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
