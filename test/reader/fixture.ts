/** A reader with two resources, and an apiserver that knows some users and what they may do. */
import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { unreachable } from '../../runtime/kubernetes/errors';
import type { FrontProxy } from '../../runtime/reader/front-proxy';
import type { ReadRequest, ReadResource } from '../../runtime/reader/resource';
import { type ReaderServer, type ReaderServerOptions, startReaderServer } from '../../runtime/reader/server';
import { type Client, type Reply, send } from './requests';

export const API = '/apis/queue.converged-computing.org/v1alpha1';
const NAME = 'fluxqueue-reader.fluxqueue-system.svc';
export const PROXY = 'front-proxy-client';

/** What the reader asks the apiserver. */
interface Review {
  readonly kind: string;
  readonly spec: {
    readonly token?: string;
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly resourceAttributes?: Readonly<Record<string, string>>;
  };
}

export interface Certificates {
  readonly serving: ServingCertificate;
  /** Of the apiserver's proxy. */
  readonly proxy: ServingCertificate;
}

export async function makeCertificates(): Promise<Certificates> {
  const now = new Date();
  return {
    serving: await makeCertificate({ names: [NAME], now }),
    proxy: await makeCertificate({ names: [PROXY], now, end: 'client' }),
  };
}

export function frontProxy({ proxy }: Certificates): FrontProxy {
  return {
    clientCas: proxy.bundle,
    names: [PROXY],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: ['x-remote-uid'],
    groupHeaders: ['x-remote-group'],
    extraPrefixes: ['x-remote-extra-'],
  };
}

export class Reading {
  server!: ReaderServer;
  /** Whether the apiserver answers. */
  isDown = false;
  /** Unix seconds. */
  now = Date.now() / 1000;
  /** `NAMESPACE VERB RESOURCE` that a user may do. */
  rights: Record<string, readonly string[]> = { ada: ['a get notes', 'a list notes', 'a create notes'] };
  tokens: Record<string, string> = { 'token-of-ada': 'ada' };
  readonly reviews: Review[] = [];
  readonly asked: ReadRequest[] = [];
  readonly errors: Error[] = [];
  readonly seen: [resource: string, status: number][] = [];
  /** How `notes` answers. */
  answer: (request: ReadRequest) => Promise<object> = async ({ name }) => ({ kind: 'Note', name });

  constructor(readonly certificates: Certificates) {}

  async start(options: Partial<ReaderServerOptions> = {}): Promise<this> {
    this.server = await startReaderServer({
      host: '127.0.0.1',
      port: 0,
      tls: this.certificates.serving,
      client: this.client,
      frontProxy: frontProxy(this.certificates),
      resources: this.resources,
      onRequest: (resource, status) => this.seen.push([resource, status]),
      onError: (error) => this.errors.push(error),
      now: () => this.now,
      ...options,
    });
    return this;
  }

  /** A request as it comes, without an identity. */
  send(path: string, client: Partial<Client> = {}): Promise<Reply> {
    const ca = this.certificates.serving.bundle;
    return send(path, { port: this.server.port, ca, servername: NAME, ...client });
  }

  /** A request that the apiserver passes on. */
  asUser(user: string, path: string, { headers, ...client }: Partial<Client> = {}): Promise<Reply> {
    const { cert, key } = this.certificates.proxy;
    return this.send(path, { cert, key, headers: { 'x-remote-user': user, ...headers }, ...client });
  }

  withToken(token: string, path: string): Promise<Reply> {
    return this.send(path, { headers: { authorization: `Bearer ${token}` } });
  }

  private get resources(): readonly ReadResource[] {
    const answer = (request: ReadRequest) => {
      this.asked.push(request);
      return this.answer(request);
    };
    return [
      {
        name: 'notes',
        singular: 'note',
        kind: 'Note',
        namespaced: true,
        verbs: ['get', 'list', 'create'],
        answer,
      },
      { name: 'hosts', singular: 'host', kind: 'Host', namespaced: false, verbs: ['list'], answer },
    ];
  }

  private get client(): Pick<KubernetesClient, 'create'> {
    return {
      create: async <T>(path: string, body: object) => {
        this.reviews.push(body as Review);
        if (this.isDown) throw unreachable(`POST ${path}`, new Error('connection refused'));
        return { status: this.statusOf(body as Review) } as T;
      },
    };
  }

  private statusOf({ kind, spec }: Review): object {
    if (kind === 'TokenReview') {
      const username = this.tokens[spec.token ?? ''];
      return username === undefined ? { authenticated: false } : { authenticated: true, user: { username } };
    }
    const { namespace = '', verb, resource, subresource } = spec.resourceAttributes ?? {};
    const path = subresource === undefined ? resource : `${resource}/${subresource}`;
    return {
      allowed: this.rights[spec.user ?? '']?.includes(`${namespace} ${verb} ${path}`.trim()) ?? false,
    };
  }
}
