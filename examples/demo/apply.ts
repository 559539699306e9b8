/** Server-side apply of any object through the client of the runtime. It finds resources by discovery. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { isStatus } from '../../runtime/kubernetes/errors';
import { resourcePath } from '../../runtime/kubernetes/paths';
import type { Manifest } from './workloads';

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
}

export class Applier {
  private readonly resources = new Map<string, Resource>();

  constructor(private readonly client: KubernetesClient) {}

  async apply(manifest: Manifest): Promise<void> {
    const { metadata } = manifest;
    const path = await this.pathOf(manifest, metadata.name);
    await this.client.patch(path, manifest, 'apply', { fieldManager: 'fluxqueue-demo', force: true });
  }

  async create<T>(manifest: Manifest): Promise<T> {
    return this.client.create<T>(await this.pathOf(manifest), manifest, { fieldManager: 'fluxqueue-demo' });
  }

  /** Deletes an object; a missing object is no error. */
  async remove(manifest: Manifest): Promise<void> {
    const path = await this.pathOf(manifest, manifest.metadata.name);
    await this.client.delete(path).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error;
    });
  }

  private async pathOf({ apiVersion, kind, metadata }: Manifest, name?: string): Promise<string> {
    const { name: resource, namespaced } = await this.resourceOf(apiVersion, kind);
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    return resourcePath({
      group,
      version,
      resource,
      ...(namespaced ? { namespace: metadata.namespace ?? 'default' } : {}),
      ...(name === undefined ? {} : { name }),
    });
  }

  private async resourceOf(apiVersion: string, kind: string): Promise<Resource> {
    const key = `${apiVersion}/${kind}`;
    const deadline = Date.now() + 10_000;
    // The apiserver serves a new CRD with a short delay.
    for (;;) {
      const known = this.resources.get(key);
      if (known !== undefined) return known;
      await this.discover(apiVersion);
      if (!this.resources.has(key) && Date.now() > deadline)
        throw new Error(`the cluster does not serve ${kind} of ${apiVersion}`);
    }
  }

  private async discover(apiVersion: string): Promise<void> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await this.client
      .get<{ resources: readonly (Resource & { readonly kind: string })[] }>(root)
      .catch(async (error: unknown) => {
        if (!isStatus(error, 404)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return { resources: [] };
      });
    for (const { name, kind, namespaced } of resources)
      if (!name.includes('/')) this.resources.set(`${apiVersion}/${kind}`, { name, namespaced });
  }
}
