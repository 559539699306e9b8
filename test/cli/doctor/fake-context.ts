/** A cluster of a few objects by path, for checks that read. */
import { ClusterReader } from '../../../runtime/cli/doctor/cluster-reader';
import type { Context } from '../../../runtime/cli/doctor/finding';
import type { KubernetesClient } from '../../../runtime/kubernetes/client';
import { apiError } from '../../../runtime/kubernetes/errors';
import type { Lease } from '../../../runtime/kubernetes/types';
import { NOW } from './objects';

export interface FakeCluster {
  /** Objects by their path; an array is a list. A number is the status of a refusal. What is absent is not found. */
  readonly [path: string]: object | readonly object[] | number;
}

interface Options {
  /** What a watch of the Lease sees. @default - nothing */
  readonly renewal?: Lease;
}

export function fakeContext(cluster: FakeCluster, { renewal }: Options = {}): Context {
  const answer = async (path: string): Promise<object> => {
    const found = cluster[path] ?? 404;
    if (typeof found !== 'number') return found;
    const message = `User "ada" cannot list resource "nodes" in API group "" at the cluster scope`;
    throw apiError(found, JSON.stringify({ message }), undefined, `GET ${path}`);
  };
  const client: Pick<KubernetesClient, 'get' | 'list' | 'create' | 'watch'> = {
    get: async <T>(path: string) => (await answer(path)) as T,
    list: async <T>(path: string) => {
      const found = cluster[path] === undefined ? [] : await answer(path);
      return { metadata: { resourceVersion: '1' }, items: found as readonly T[] };
    },
    create: async <T>(path: string) => (await answer(`${path} dry run`)) as T,
    watch: async (_path, _options, onEvent) => {
      if (renewal !== undefined) onEvent({ type: 'MODIFIED', object: renewal as never });
      return 'ended';
    },
  };
  const namespace = 'fluxqueue-system';
  return { reader: new ClusterReader(client, namespace), namespace, version: '0.1.0', now: NOW };
}
