/**
 * The credentials of this process. A ServiceAccount token is rotated on disk, a certificate may be, and the answer of
 * an exec plugin expires. They are read again once a minute, as client-go does, and after a 401; other requests cost no
 * I/O.
 */
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { Clock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { Access } from './kubeconfig';

export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Another object when certificate, key or CA changed, so that new connections are opened. */
  readonly secureContext: SecureContext;
}

const FRESH_MILLISECONDS = 60_000;

interface Material {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export class Credentials {
  #credential: Credential | undefined;
  #material: Material | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Credential> | undefined;
  #exec = new ExecAuth();

  constructor(
    private readonly access: Access,
    private readonly clock: Clock,
  ) {}

  /** @throws FluxqError FLUXQ_KUBERNETES_CREDENTIALS, retryable, if a file or plugin fails */
  current(): Credential | Promise<Credential> {
    if (this.#credential !== undefined && this.clock.now() - this.#readAt < FRESH_MILLISECONDS)
      return this.#credential;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The apiserver refused this credential: the next call reads the files and runs the plugin again. */
  refused(credential: Credential): void {
    if (this.#credential !== credential) return;
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.#exec = new ExecAuth();
  }

  async #read(): Promise<Credential> {
    const { cluster, user, origin } = this.access;
    try {
      const plugin = await this.#askPlugin();
      const [ca, cert, key, token] = await Promise.all([
        pem(cluster.caFile, cluster.caData),
        pem(user.certFile, user.certData),
        pem(user.keyFile, user.keyData),
        user.tokenFile === undefined ? user.token : readFile(user.tokenFile, 'utf8'),
      ]);
      const material = { ca, cert: plugin.cert ?? cert, key: plugin.key ?? key };
      this.#credential = {
        headers: { ...plugin.headers, ...headersOf(this.access, token) },
        secureContext: this.#contextFor(material),
      };
      this.#readAt = this.clock.now();
      return this.#credential;
    } catch (error) {
      throw new FluxqError(
        'FLUXQ_KUBERNETES_CREDENTIALS',
        `can't get credentials: ${messageOf(error).trim()}`,
        {
          field: origin,
          remedy: "check the user's token, certificate files or exec plugin",
          retryable: true,
          cause: error,
        },
      );
    }
  }

  #contextFor(material: Material): SecureContext {
    const old = this.#material;
    const same = old?.ca === material.ca && old?.cert === material.cert && old?.key === material.key;
    if (same && this.#credential !== undefined) return this.#credential.secureContext;
    const context = createSecureContext({ ...material });
    this.#material = material;
    return context;
  }

  async #askPlugin(): Promise<{ headers: Record<string, string>; cert?: string; key?: string }> {
    const { user, cluster } = this.access;
    if (!user.exec) return { headers: {} };
    const info = {
      apiVersion: user.exec.apiVersion ?? 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: cluster.server } },
    };
    const env = [...(user.exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
    const answer: RequestOptions & { headers: Record<string, string> } = { headers: {} };
    await this.#exec.applyAuthentication({ ...user, exec: { ...user.exec, env } }, answer);
    return {
      headers: answer.headers,
      ...(answer.cert !== undefined && { cert: String(answer.cert) }),
      ...(answer.key !== undefined && { key: String(answer.key) }),
    };
  }
}

function headersOf({ user }: Access, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (token) headers.authorization = `Bearer ${token.trim()}`;
  else if (user.username) {
    headers.authorization = `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
  }
  if (user.impersonateUser) headers['impersonate-user'] = user.impersonateUser;
  return headers;
}

async function pem(file: string | undefined, data: string | undefined): Promise<string | undefined> {
  if (file) return readFile(file, 'utf8');
  return data ? Buffer.from(data, 'base64').toString('utf8') : undefined;
}
