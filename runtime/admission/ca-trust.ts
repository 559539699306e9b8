/** Objects that tell the apiserver which CA to trust: the webhook configuration, and the APIService of the read API. */
import { apiServices, mutatingWebhookConfigurations } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';

/** Where the CA of a certificate is written. */
export interface CaTrust {
  /** Path of all objects of this kind. */
  readonly collection: string;
  readonly name: string;
  readonly path: string;
  /** Further host names by which the apiserver calls the server. */
  hosts(object: KubernetesObject): string[];
  /** The JSON patch that sets the CA; empty if the object has it. @param caBundle base64 */
  patch(object: KubernetesObject, caBundle: string): object[];
}

interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string; readonly url?: string };
  }[];
}

interface ApiService extends KubernetesObject {
  readonly spec: { readonly caBundle?: string };
}

/** @param name of the MutatingWebhookConfiguration */
export function webhookTrust(name: string): CaTrust {
  return {
    collection: mutatingWebhookConfigurations(),
    name,
    path: mutatingWebhookConfigurations(name),
    hosts: (object) => urlHosts(object as WebhookConfiguration),
    patch: ({ webhooks = [] }: WebhookConfiguration, caBundle) =>
      webhooks.flatMap(({ name: webhook, clientConfig }, i) =>
        clientConfig.caBundle === caBundle
          ? []
          : [
              { op: 'test', path: `/webhooks/${i}/name`, value: webhook },
              { op: 'add', path: `/webhooks/${i}/clientConfig/caBundle`, value: caBundle },
            ],
      ),
  };
}

/** The apiserver calls the Service of an APIService by its name, wherever that leads. */
export function apiServiceTrust(name: string): CaTrust {
  return {
    collection: apiServices(),
    name,
    path: apiServices(name),
    hosts: () => [],
    patch: (object, caBundle) =>
      (object as ApiService).spec.caBundle === caBundle
        ? []
        : [{ op: 'add', path: '/spec/caBundle', value: caBundle }],
  };
}

/** The hosts in the URLs of the configuration, which a webhook outside the cluster has instead of a Service. */
function urlHosts({ webhooks = [] }: WebhookConfiguration): string[] {
  const urls = webhooks.flatMap(({ clientConfig: { url } }) => (url === undefined ? [] : [url]));
  return [...new Set(urls.map((url) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')))];
}
