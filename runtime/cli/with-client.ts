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
