/** Asks the apiserver what a reader may read. The rights are those of RBAC, as with every other API. */
import { createHash } from 'node:crypto';
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import { AnswerCache } from '../kubernetes/answer-cache';
import type { KubernetesClient } from '../kubernetes/client';
import { clusterWide } from '../kubernetes/paths';
import { REVIEW_REQUEST } from './authentication';
import type { Reader, ReadVerb } from './resource';
import { Refusal } from './status';

export interface AccessQuestion {
  readonly verb: ReadVerb;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface AuthorizerOptions {
  readonly client: Pick<KubernetesClient, 'create'>;
  /** Unix seconds. */
  readonly now: () => number;
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

const subjectAccessReviews = clusterWide('authorization.k8s.io', 'v1', 'subjectaccessreviews');
/** Seconds, as long as a withdrawn right may still hold. */
const CACHED_S = 10;
const MOST_CACHED = 4_096;

export class Authorizer {
  private readonly known: AnswerCache<boolean>;

  constructor(private readonly options: AuthorizerOptions) {
    this.known = new AnswerCache({ seconds: CACHED_S, most: MOST_CACHED, now: options.now });
  }

  /** @throws Refusal 403, and the errors of the client */
  async check(reader: Reader, question: AccessQuestion): Promise<void> {
    const { username: user, uid, groups, extra } = reader;
    const { verb, resource, subresource, namespace, name } = question;
    const spec = {
      user,
      ...(uid !== undefined && { uid }),
      groups,
      extra,
      resourceAttributes: {
        group: READ_GROUP,
        version: READ_VERSION,
        verb,
        resource,
        ...(subresource !== undefined && { subresource }),
        ...(namespace !== undefined && { namespace }),
        ...(name !== undefined && { name }),
      },
    };
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    if (await this.known.get(key, () => this.review(spec))) return;
    throw new Refusal(403, forbidden(user, question));
  }

  private async review(spec: object): Promise<boolean> {
    const { status } = await this.options.client.create<SubjectAccessReview>(
      subjectAccessReviews(),
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
      REVIEW_REQUEST,
    );
    return status?.allowed === true;
  }
}

/** The sentence of the apiserver. */
function forbidden(user: string, { verb, resource, subresource, namespace, name }: AccessQuestion): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const object = name === undefined ? '' : ` "${name}"`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return (
    `${resource}.${READ_GROUP}${object} is forbidden: ` +
    `User "${user}" cannot ${verb} resource "${path}" in API group "${READ_GROUP}" ${scope}`
  );
}
