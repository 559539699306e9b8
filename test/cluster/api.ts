/** A minimal JSON client of the Kubernetes API for tests, which exposes requests and responses. */
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { FluxqError } from '../../runtime/errors';

/** Any Kubernetes object. It is loosely typed, because tests assert on single fields. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    generateName?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export interface ApplyOptions {
  /** Validates without storing. @default false */
  readonly dryRun?: boolean;
  /** @default fluxqueue-test */
  readonly fieldManager?: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** @default - merge patch for PATCH, JSON for other methods */
export type ContentType =
  | 'application/json'
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
}

/** What the apiserver answers of a new CustomResourceDefinition: its policies know the schema after a while, and its cache fills. */
const NEW_KIND: Readonly<Record<number, string>> = {
  503: 'There can be a delay between when CustomResourceDefinitions are created',
  429: 'storage is (re)initializing',
};
const NEW_KIND_MS = 60_000;

export class ApiClient {
  private readonly agent: Agent;
  private readonly discovered = new Map<string, Resource>();

  constructor(
    readonly server: string,
    private readonly token: string,
    private readonly ca: string,
  ) {
    this.agent = new Agent({ ca, keepAlive: true, maxSockets: 32 });
  }

  /** A client of the same apiserver with another token. */
  as(token: string): ApiClient {
    return new ApiClient(this.server, token, this.ca);
  }

  /** Closes idle connections. */
  close(): void {
    this.agent.destroy();
  }

  /**
   * Returns the raw response with any status.
   *
   * @throws the error of the socket when there is no response.
   */
  send(
    method: Method,
    path: string,
    body?: unknown,
    type?: ContentType,
  ): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
    const contentType = type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.token}`,
      accept: 'application/json, */*',
      ...(payload === undefined
        ? {}
        : { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(
        new URL(path, this.server),
        { method, agent: this.agent, headers },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(chunks).toString('utf8'),
              headers: answer.headers,
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /**
   * Sends a request and parses the response.
   *
   * @throws FLUXQ_TEST_API on a status of 400 or more; `value` is the status code.
   */
  async request<T = KubeObject>(
    method: Method,
    path: string,
    body?: unknown,
    type?: ContentType,
  ): Promise<T> {
    const { status, text } = await this.sendWhenServed(method, path, body, type);
    if (status < 400) return JSON.parse(text) as T;
    throw apiError(method, path, status, text);
  }

  /** As {@link send}, once the apiserver serves the kind. */
  async sendWhenServed(...request: Parameters<ApiClient['send']>): ReturnType<ApiClient['send']> {
    for (const deadline = Date.now() + NEW_KIND_MS; ; await delay(250)) {
      const answer = await this.send(...request);
      const isNew = answer.text.includes(NEW_KIND[answer.status] ?? '\0');
      if (!isNew || Date.now() > deadline) return answer;
    }
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.request<T>('GET', path);
  }

  /** Creates the objects in order (POST), as `kubectl create` does; supports generateName. */
  async create(manifests: Manifests): Promise<KubeObject[]> {
    const created: KubeObject[] = [];
    for (const manifest of objectsOf(manifests)) {
      created.push(await this.request('POST', await this.collection(manifest), manifest));
    }
    return created;
  }

  /** Applies the objects in order by server-side apply with force and returns the stored objects. */
  async apply(manifests: Manifests, options: ApplyOptions = {}): Promise<KubeObject[]> {
    const query = new URLSearchParams({
      fieldManager: options.fieldManager ?? 'fluxqueue-test',
      force: 'true',
      ...(options.dryRun ? { dryRun: 'All' } : {}),
    });
    const applied: KubeObject[] = [];
    for (const manifest of objectsOf(manifests)) {
      const path = `${await this.collection(manifest)}/${manifest.metadata.name}?${query}`;
      applied.push(await this.request('PATCH', path, manifest, 'application/apply-patch+yaml'));
    }
    return applied;
  }

  /** The collection path of a kind in a namespace. */
  async collection(object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): Promise<string> {
    const { name, namespaced } = await this.resource(object.apiVersion, object.kind);
    const namespace = namespaced ? `/namespaces/${object.metadata.namespace ?? 'default'}` : '';
    return `${groupPath(object.apiVersion)}${namespace}/${name}`;
  }

  private async resource(apiVersion: string, kind: string): Promise<Resource> {
    const key = `${apiVersion}/${kind}`;
    // The apiserver serves a new CustomResourceDefinition with a short delay.
    for (const deadline = Date.now() + 10_000; !this.discovered.has(key); ) {
      await this.discover(apiVersion);
      if (this.discovered.has(key)) break;
      if (Date.now() > deadline) {
        throw new FluxqError('FLUXQ_TEST_API', 'the apiserver does not serve this kind', {
          value: key,
          remedy: 'apply its CustomResourceDefinition first',
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return this.discovered.get(key) as Resource;
  }

  private async discover(apiVersion: string): Promise<void> {
    const { status, text } = await this.send('GET', groupPath(apiVersion));
    if (status === 404) return;
    if (status >= 400) throw apiError('GET', groupPath(apiVersion), status, text);
    const list = JSON.parse(text) as { resources: { name: string; kind: string; namespaced: boolean }[] };
    for (const { name, kind, namespaced } of list.resources) {
      if (!name.includes('/')) this.discovered.set(`${apiVersion}/${kind}`, { name, namespaced });
    }
  }
}

/** One object, several objects, or a YAML text with one or more documents. */
export type Manifests = object | readonly object[] | string;

function objectsOf(manifests: Manifests): KubeObject[] {
  if (typeof manifests !== 'string') return [manifests].flat() as KubeObject[];
  const objects = parseAllDocuments(manifests).map((document) => document.toJS() as KubeObject | null);
  return objects.filter((object) => object !== null);
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function apiError(method: Method, path: string, status: number, text: string): FluxqError {
  let message = text.trim();
  if (message.startsWith('{')) message = (JSON.parse(message) as { message?: string }).message ?? message;
  return new FluxqError('FLUXQ_TEST_API', message, {
    field: `${method} ${path}`,
    value: status,
    retryable: status === 429 || status >= 500,
  });
}
