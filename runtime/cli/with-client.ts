import type { Command } from 'commander';
import { type ClientOptions, createClient, type KubernetesClient } from '../kubernetes/client';
import { forUser } from '../kubernetes/errors';

/** Runs one command with a client of the apiserver. */
export async function withClient<T>(
  options: ClientOptions,
  work: (client: KubernetesClient) => Promise<T>,
): Promise<T> {
  const client = createClient(options);
  try {
    return await work(client);
  } catch (error) {
    throw forUser(error);
  } finally {
    client.close();
  }
}

/** The options of a command that users run with their own kubeconfig. */
export interface Scope {
  /** @default - that of the kubeconfig */
  readonly namespace?: string;
  /** A context of the kubeconfig. @default - its current one */
  readonly context?: string;
}

/** Changes by these commands are a user's, like those by `kubectl edit`. */
export const FIELD_MANAGER = 'kubectl-fluxqueue';

/** Runs one command of a user. */
export function inCluster<T>(
  { context }: Pick<Scope, 'context'>,
  work: (client: KubernetesClient) => Promise<T>,
): Promise<T> {
  return withClient({ userAgent: 'fluxqueue-cli', ...(context && { context }) }, work);
}

/** Runs one command of a user in the namespace that is meant. */
export function inNamespace<T>(
  { namespace, ...scope }: Scope,
  work: (client: KubernetesClient, namespace: string) => Promise<T>,
): Promise<T> {
  // An empty one is none, as for kubectl.
  return inCluster(scope, (client) => work(client, namespace || client.namespace || 'default'));
}

/** The namespaces of an answer, in words. @param namespace undefined: all */
export function whereOf(namespace: string | undefined): string {
  return namespace === undefined ? 'all namespaces' : `namespace ${namespace}`;
}

/** Gives a command the options of its scope. */
export function scoped(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig)')
    .option('--context <name>', 'context of the kubeconfig');
}
