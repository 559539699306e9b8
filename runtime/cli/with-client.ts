import { type ClientOptions, createClient, type KubernetesClient } from '../kubernetes/client';

/** Runs one command with a client of the apiserver. */
export async function withClient<T>(
  options: ClientOptions,
  work: (client: KubernetesClient) => Promise<T>,
): Promise<T> {
  const client = createClient(options);
  try {
    return await work(client);
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

/** Runs one command of a user in the namespace that is meant. */
export function inNamespace<T>(
  { namespace, context }: Scope,
  work: (client: KubernetesClient, namespace: string) => Promise<T>,
): Promise<T> {
  return withClient({ userAgent: 'fluxqueue-cli', ...(context && { context }) }, (client) =>
    work(client, namespace ?? client.namespace ?? 'default'),
  );
}
