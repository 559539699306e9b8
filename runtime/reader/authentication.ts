/** Who sends a request: the apiserver's proxy in the name of a user, or a client with a bearer token. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { AnswerCache } from '../kubernetes/answer-cache';
import type { KubernetesClient } from '../kubernetes/client';
import { clusterWide } from '../kubernetes/paths';
import { type FrontProxy, isFrontProxy, readerOf } from './front-proxy';
import { RequestSlots } from './request-slots';
import type { Reader } from './resource';
import { Refusal } from './status';

export interface AuthenticatorOptions {
  readonly client: Pick<KubernetesClient, 'create'>;
  /** @default - there is none, or it is not known yet */
  readonly frontProxy: () => FrontProxy | undefined;
  /** Unix seconds. */
  readonly now: () => number;
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: Partial<Omit<Reader, 'uid'>> & { readonly uid?: string };
  };
}

const tokenReviews = clusterWide('authentication.k8s.io', 'v1', 'tokenreviews');
/** Seconds, as long as a revoked token may still be accepted. */
const CACHED_S = 10;
const MOST_CACHED = 4_096;
/** Tokens that are asked for at once: whoever sends many invalid ones keeps no user of the proxy waiting. */
const MOST_REVIEWS = 16;
/** What every review waits for at most, in milliseconds, and how often it is repeated. */
export const REVIEW_REQUEST = { timeout: 5_000, retries: 1 } as const;

export class Authenticator {
  private readonly known: AnswerCache<Reader | undefined>;
  private readonly reviews = new RequestSlots({ all: MOST_REVIEWS, user: MOST_REVIEWS });

  constructor(private readonly options: AuthenticatorOptions) {
    this.known = new AnswerCache({ seconds: CACHED_S, most: MOST_CACHED, now: options.now });
  }

  /** @throws Refusal 401, and the errors of the client */
  async readerOf(request: IncomingMessage): Promise<Reader> {
    const reader = this.proxiedReader(request) ?? (await this.tokenReader(request));
    if (reader !== undefined) return reader;
    throw new Refusal(401, 'Unauthorized');
  }

  private proxiedReader(request: IncomingMessage): Reader | undefined {
    const proxy = this.options.frontProxy();
    const now = new Date(this.options.now() * 1000);
    if (proxy === undefined || !isFrontProxy(request.socket as TLSSocket, proxy, now)) return undefined;
    return readerOf(request, proxy);
  }

  private tokenReader({ headers }: IncomingMessage): Promise<Reader | undefined> | undefined {
    const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return undefined;
    const key = createHash('sha256').update(token).digest('base64');
    return this.known.get(key, () => this.review(token));
  }

  private async review(token: string): Promise<Reader | undefined> {
    const done = this.reviews.take('');
    try {
      const { status } = await this.options.client.create<TokenReview>(
        tokenReviews(),
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
        REVIEW_REQUEST,
      );
      const { username = '', uid, groups = [], extra = {} } = status?.user ?? {};
      if (status?.authenticated !== true || username === '') return undefined;
      return { username, ...(uid !== undefined && { uid }), groups, extra };
    } finally {
      done();
    }
  }
}
