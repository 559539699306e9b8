/**
 * What etcd has of a cluster. `restore` finds what a suite left by the lists of the apiserver; this does not ask the apiserver, so it also
 * shows what those lists miss, and what would change the result of the next suite.
 */
import { basename } from 'node:path';
import type { ClusterAddress } from '../cluster';

type Stored = Pick<ClusterAddress, 'directory' | 'ports'>;

/** Kubernetes writes these by itself, all the time: they say nothing about a suite. */
const OF_KUBERNETES =
  /^\/(events|masterleases|peerserverleases|endpointslices|services\/endpoints|ranges|leases\/kube-(system|node-lease))\/|^\/(serviceaccounts\/[^/]+\/default|configmaps\/[^/]+\/kube-root-ca\.crt)$/;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The keys of all objects: `/namespaces/science`. */
export async function storedKeys({ directory, ports }: Stored): Promise<ReadonlySet<string>> {
  const prefix = `/${basename(directory)}`;
  const answer = await fetch(`http://127.0.0.1:${ports.etcd}/v3/kv/range`, {
    method: 'POST',
    // The character behind the slash ends the range.
    body: JSON.stringify({ key: base64(`${prefix}/`), range_end: base64(`${prefix}0`), keys_only: true }),
  });
  const { kvs = [] } = (await answer.json()) as { kvs?: readonly { readonly key: string }[] };
  const keys = kvs.map(({ key }) => Buffer.from(key, 'base64').toString('utf8').slice(prefix.length));
  return new Set(keys.filter((key) => !OF_KUBERNETES.test(key)));
}

/** @throws when etcd has what it did not have before */
export async function expectNothingElse(cluster: Stored, before: ReadonlySet<string>): Promise<void> {
  const left = [...(await storedKeys(cluster))].filter((key) => !before.has(key));
  if (left.length > 0) throw new Error(`etcd still has what a suite left: ${left.join(', ')}`);
}
