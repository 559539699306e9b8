/** Objects that make a workload of their own name, and would make it again: a MiniCluster its Job, a TrainJob its JobSet. */
import { MINICLUSTER_GROUP } from '../../constructs/api/labels';
import { type MakerKind, makerKinds } from '../../constructs/api/workload-kinds';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import { kindPath } from '../kubernetes/kind-fields';
import { controllerOf } from '../kubernetes/owner';
import type { NamespacedPath } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { miniClusters } from '../miniclusters/resource';

interface Maker {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  readonly path: NamespacedPath;
  readonly words: readonly string[];
}

/** A MiniCluster waits as its Job, which has the same name. */
export const MINICLUSTER_WORDS = ['mc', 'minicluster', 'miniclusters'];
/** A TrainJob waits as its JobSet, which has the same name. */
const MAKERS: readonly Maker[] = [
  {
    kind: 'MiniCluster',
    group: MINICLUSTER_GROUP,
    plural: 'miniclusters',
    path: miniClusters,
    words: MINICLUSTER_WORDS,
  },
  ...makerKinds().map((maker) => ({ ...maker, path: kindPath(maker), words: wordsOf(maker) })),
];

export function wordsOf({
  kind,
  plural,
  group,
}: Pick<MakerKind, 'kind' | 'plural' | 'group'>): readonly string[] {
  return [kind.toLowerCase(), plural, `${plural}.${group}`];
}

export function makerNamed(word: string): Maker | undefined {
  return MAKERS.find(({ words }) => words.includes(word.toLowerCase()));
}

/** What a command does to an object that makes workloads. */
export interface MadeBy<K extends KubernetesObject = KubernetesObject> {
  readonly path: string;
  /** As commands name it. */
  readonly shown: string;
  readonly object: K;
}

/** The object that makes this workload again whenever it is deleted or changed, if there is one. */
export async function makerOf(
  client: KubernetesClient,
  namespace: string,
  workload: KubernetesObject,
): Promise<MadeBy | undefined> {
  const owner = controllerOf(workload);
  const maker = MAKERS.find(
    ({ kind, group }) => owner?.kind === kind && owner.apiVersion.split('/')[0] === group,
  );
  return maker && readMaker(client, maker, namespace, owner!.name);
}

export async function readMaker(
  client: KubernetesClient,
  { kind, path }: Maker,
  namespace: string,
  name: string,
): Promise<MadeBy | undefined> {
  const object = await ifFound(client.get<KubernetesObject>(path(namespace, name)));
  return object && { path: path(namespace, name), shown: `${kind.toLowerCase()}/${name}`, object };
}
