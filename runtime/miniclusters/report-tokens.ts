/**
 * Asks the apiserver whose token a report brings. The token has an audience of its own, so it is good for nothing else,
 * and the apiserver tells the pod that it was made for.
 */
import { createHash } from 'node:crypto';
import { REPORT_AUDIENCE } from '../../constructs/api/labels';
import { AnswerCache } from '../kubernetes/answer-cache';
import type { KubernetesClient } from '../kubernetes/client';
import { clusterWide } from '../kubernetes/paths';

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

const tokenReviews = clusterWide('authentication.k8s.io', 'v1', 'tokenreviews');
/** Seconds. */
const CACHED_S = 60;
const MOST_CACHED = 4_096;
const EXTRA = 'authentication.kubernetes.io';

export class ReportTokens {
  /** By the hash of the token. */
  private readonly known: AnswerCache<PodIdentity | undefined>;

  constructor(
    private readonly client: Pick<KubernetesClient, 'create'>,
    /** Unix seconds. */
    now: () => number,
  ) {
    this.known = new AnswerCache({ seconds: CACHED_S, most: MOST_CACHED, now });
  }

  /** The pod of the token; undefined if the apiserver does not accept it. */
  podOf(token: string): Promise<PodIdentity | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    return this.known.get(key, () => this.review(token));
  }

  private async review(token: string): Promise<PodIdentity | undefined> {
    const { status } = await this.client.create<TokenReview>(tokenReviews(), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [REPORT_AUDIENCE] },
    });
    if (status?.authenticated !== true || status.audiences?.includes(REPORT_AUDIENCE) !== true)
      return undefined;
    const namespace = /^system:serviceaccount:([^:]+):/.exec(status.user?.username ?? '')?.[1];
    const name = status.user?.extra?.[`${EXTRA}/pod-name`]?.[0];
    const uid = status.user?.extra?.[`${EXTRA}/pod-uid`]?.[0];
    return namespace === undefined || name === undefined || uid === undefined
      ? undefined
      : { namespace, name, uid };
  }
}
