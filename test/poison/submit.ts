/** Creates the objects of the corpus, each of some writers its next one as soon as the apiserver has answered. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { ConcurrencyLimiter } from '../../runtime/kubernetes/concurrency-limiter';
import type { Pod } from '../../runtime/kubernetes/types';
import { isGated } from '../../runtime/workloads/pod';
import type { KubeObject } from '../cluster/api';
import type { Stack } from '../stack/stack';
import type { Poison } from './objects';

export interface Accepted {
  readonly title: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly path: string;
  /** Whether it is a workload that the queue holds back. */
  readonly isQueued: boolean;
}

interface Refused {
  readonly title: string;
  readonly status: number;
  readonly sentence: string;
}

export interface Submitted {
  readonly accepted: readonly Accepted[];
  readonly refused: readonly Refused[];
}

/** A FluxSetup changes what its namespace may do, so that each has one of its own. */
const OWN_NAMESPACE = 'FluxSetup';

export async function submit(
  stack: Stack,
  corpus: readonly Poison[],
  { prefix, writers }: { prefix: string; writers: number },
): Promise<Submitted> {
  const namespaces = new Map<Poison, string>();
  await stack.namespace(prefix);
  for (const [i, poison] of corpus.entries()) {
    const isShared = poison.object.kind !== OWN_NAMESPACE;
    const name = isShared ? prefix : `${prefix}-${i}`;
    if (!isShared) await stack.namespace(name);
    namespaces.set(poison, name);
  }
  const limiter = new ConcurrencyLimiter(writers);
  const accepted: Accepted[] = [];
  const refused: Refused[] = [];
  await Promise.all(
    corpus.map((poison) =>
      limiter.run('normal', '', async () => {
        const answer = await create(stack, poison, namespaces.get(poison)!);
        if ('uid' in answer) accepted.push(answer);
        else refused.push(answer);
      }),
    ),
  );
  return { accepted, refused };
}

async function create(
  stack: Stack,
  { title, object, status }: Poison,
  namespace: string,
): Promise<Accepted | Refused> {
  const { api } = stack.cluster;
  const manifest = { ...object, metadata: { ...object.metadata, namespace } };
  const collection = await api.collection(manifest);
  const answer = await api.send('POST', collection, manifest);
  if (answer.status >= 300) return { title, status: answer.status, sentence: sentenceOf(answer.text) };
  const created = JSON.parse(answer.text) as KubeObject;
  const { metadata, kind } = created;
  const { name = '', uid = '' } = metadata;
  const path = `${collection}/${name}`;
  // Whether the apiserver takes the status is its business: here it counts what becomes of it.
  if (status !== undefined) await api.send('PATCH', `${path}/status`, { status });
  return { title, kind, namespace, name, uid, path, isQueued: isQueued(created) };
}

function sentenceOf(text: string): string {
  if (!text.startsWith('{')) return text.trim();
  return (JSON.parse(text) as { message?: string }).message ?? '';
}

/** Another controller may run a Job: the queue leaves it alone. */
function isQueued({ kind, metadata, spec }: KubeObject): boolean {
  return kind === 'Job'
    ? metadata.labels?.[ADMITTED_LABEL] === 'true'
    : kind === 'Pod' && isGated({ spec } as Pod);
}
