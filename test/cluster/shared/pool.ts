/**
 * Control planes that the suites of one worker of Jest use one after another. Each suite finds the cluster as if it had just
 * started, because what the suite before it left is deleted. Runs outside the sandbox of the tests, which only see plain data.
 */

import { messageOf } from '../../../runtime/errors';
import { startStack } from '../../stack/stack';
import { ADA } from '../../stack/users';
import { type Cluster, startCluster } from '../cluster';
import { type Contents, changesOf, contentsOf, restore } from './contents';
import { PROJECT_KINDS } from './kinds';
import { expectNothingElse, storedKeys } from './stored';

/**
 * What the suites of a class share (test/README.md says which class to choose): `apiserver` is a control plane without scheduler and
 * nodes, with the kinds of the project; `stack` one to which the default stack is applied, with admission by policies.
 */
export type SharedClass = 'apiserver' | 'stack';

interface Shared {
  readonly cluster: Cluster;
  readonly stop: () => Promise<void>;
  readonly contents: Contents;
  /** What etcd has of it. */
  readonly stored: ReadonlySet<string>;
}

const STARTS: Record<SharedClass, () => Promise<Pick<Shared, 'cluster' | 'stop'>>> = {
  apiserver: async () => {
    const cluster = await startCluster({ scheduler: false, objects: PROJECT_KINDS, users: [ADA] });
    return { cluster, stop: () => cluster.stop() };
  },
  stack: async () => {
    const stack = await startStack({ cluster: { users: [ADA], tuning: { nodeMonitorSeconds: 1 } } });
    return { cluster: stack.cluster, stop: () => stack.stop() };
  },
};

const clusters = new Map<SharedClass, Shared>();

/** A cluster of the class, as new, as JSON of its address. */
export async function take(name: SharedClass): Promise<string> {
  const used = clusters.get(name);
  try {
    if (used !== undefined) {
      await restore(used.cluster.api, used.contents);
      await expectNothingElse(used.cluster.address, used.stored);
    }
  } catch (error) {
    process.stderr.write(`a shared ${name} is started again: ${messageOf(error)}\n`);
    await discard(name);
  }
  const { cluster } = clusters.get(name) ?? (await start(name));
  return JSON.stringify(cluster.address);
}

/**
 * Ends the use of the cluster by a suite. What the suite has made is deleted when another one takes the cluster.
 *
 * @returns the paths of the objects that the suite changed or deleted and may not, because others use them.
 */
export async function giveBack(name: SharedClass): Promise<readonly string[]> {
  const used = clusters.get(name);
  if (used === undefined) return [];
  const changes = await changesOf(used.cluster.api, used.contents);
  if (changes.length > 0) await discard(name);
  return changes;
}

async function start(name: SharedClass): Promise<Shared> {
  const started = await STARTS[name]();
  const { api, address } = started.cluster;
  const shared = { ...started, contents: await contentsOf(api), stored: await storedKeys(address) };
  clusters.set(name, shared);
  return shared;
}

async function discard(name: SharedClass): Promise<void> {
  const shared = clusters.get(name);
  clusters.delete(name);
  await shared?.stop();
}
