/** Objects that make a workload of their own name, and would make it again: a MiniCluster its Job, a TrainJob its JobSet. */
import { MINICLUSTER_GROUP } from '../../constructs/api/labels';
import { type MakerKind, makerKinds } from '../../constructs/api/workload-kinds';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound, isStatus } from '../kubernetes/errors';
import { kindPath } from '../kubernetes/kind-fields';
import { controllerOf } from '../kubernetes/owner';
import type { NamespacedPath } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { type MiniCluster, miniClusters } from '../miniclusters/resource';

interface Maker {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  readonly path: NamespacedPath;
  readonly words: readonly string[];
}

/** A MiniCluster waits as its Job, which has the same name. */
export const MINICLUSTER_WORDS = ['mc', 'minicluster', 'miniclusters'];
const MINICLUSTER: Maker = {
  kind: 'MiniCluster',
  group: MINICLUSTER_GROUP,
  plural: 'miniclusters',
  path: miniClusters,
  words: MINICLUSTER_WORDS,
};
/** A TrainJob waits as its JobSet, which has the same name. */
const MAKERS: readonly Maker[] = [
  MINICLUSTER,
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

/** The kind and the name of what makes this workload again whenever it is deleted, if something does. */
export function makerOf(
  workload: KubernetesObject,
): { readonly maker: Maker; readonly name: string } | undefined {
  const owner = controllerOf(workload);
  const maker = MAKERS.find(
    ({ kind, group }) => owner?.kind === kind && owner.apiVersion.split('/')[0] === group,
  );
  return maker && { maker, name: owner!.name };
}

export async function readMaker(
  client: KubernetesClient,
  { kind, path }: Maker,
  namespace: string,
  name: string,
) {
  const object = await ifFound(client.get<KubernetesObject>(path(namespace, name)));
  return object && { paths: [path(namespace, name)], shown: `${kind.toLowerCase()}/${name}`, object };
}

/** What commands change of a workload that its MiniCluster may say as well. */
export type Wish = Pick<MiniClusterSpec, 'suspend' | 'priority'>;

/** The MiniCluster that writes such a setting on its Job again, because its spec has it. */
export async function wishingMiniCluster(
  client: KubernetesClient,
  namespace: string,
  workload: KubernetesObject,
  wish: Wish,
) {
  const made = makerOf(workload);
  if (made?.maker !== MINICLUSTER) return undefined;
  const found = await readMaker(client, MINICLUSTER, namespace, made.name).catch((error: unknown) => {
    // Whoever may change the Job alone changes that.
    if (isStatus(error, 403)) return undefined;
    throw error;
  });
  const { suspend, priority = 0 } = (found?.object as MiniCluster | undefined)?.spec ?? {};
  // A priority from 0 on is a label of the Job, and an annotation has precedence over it. What the spec says already changes nothing.
  const isOther =
    wish.suspend === undefined
      ? priority < 0 && priority !== wish.priority
      : suspend !== undefined && suspend !== wish.suspend;
  return isOther ? found : undefined;
}
