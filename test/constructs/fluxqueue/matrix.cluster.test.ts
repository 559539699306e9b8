// Own cluster: whole stacks are applied to it.
/**
 * A stack of the matrix is accepted by the real apiserver, and applying it again changes nothing. Other stacks each day, all with
 * NIGHTLY=1.
 */
import type { Cluster, KubeObject } from '../../cluster/cluster';
import { describeOwnCluster } from '../../cluster/suite';
import { drawOf } from '../../seed';
import { names, stackObjects } from '../manifests';
import { COUNT, stacks } from './matrix';
import { installOperators } from './operators';

const DRAWN = 8;
const STRICT = 'fieldManager=matrix&force=true&fieldValidation=Strict';

describeOwnCluster('the matrix of stacks on a real apiserver', (getCluster) => {
  beforeAll(() => installOperators(getCluster()), 60_000);
  const known = new Set<string>();
  /** Objects that no earlier stack has in the same form: for the others nothing would be new. */
  const unknown = (objects: KubeObject[]) =>
    objects.filter((object) => {
      const text = JSON.stringify(object);
      return !known.has(text) && known.add(text);
    });

  test.each(
    drawOf(
      stacks(COUNT).map((props, index) => [index, props] as const),
      DRAWN,
    ),
  )('stack %i is accepted strictly, and applied twice without a change', async (_, props) => {
    const objects = unknown(stackObjects(props));
    expect(objects.length).toBeGreaterThan(0);
    const first = await applyStrictly(getCluster(), objects);
    expect(names(first)).toEqual(names(objects));
    expect((await applyStrictly(getCluster(), objects)).map(version)).toEqual(first.map(version));
  });
});

/** In the order of the stack as far as it matters for the apiserver: definitions and namespaces before their objects. */
async function applyStrictly(cluster: Cluster, objects: readonly KubeObject[]): Promise<KubeObject[]> {
  const early = objects.filter(({ kind }) => /^(Namespace|CustomResourceDefinition)$/.test(kind));
  const others = objects.filter((object) => !early.includes(object));
  const applied = new Map<KubeObject, KubeObject>();
  for (const batch of [early, others])
    await Promise.all(
      batch.map(async (object) => {
        applied.set(object, await applyOne(cluster, object));
      }),
    );
  return objects.map((object) => applied.get(object)!);
}

async function applyOne({ api }: Cluster, object: KubeObject): Promise<KubeObject> {
  // A webhook that does not exist would refuse the requests of the next stacks.
  const query = object.kind === 'MutatingWebhookConfiguration' ? `${STRICT}&dryRun=All` : STRICT;
  const path = `${await api.collection(object)}/${object.metadata.name}?${query}`;
  const { status, text } = await api.send('PATCH', path, object, 'application/apply-patch+yaml');
  if (status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${text}`);
  return JSON.parse(text) as KubeObject;
}

/**
 * The generation, because controllers write statuses meanwhile; the resource version of objects without generation. Controllers
 * write to the metadata of a claim, too.
 */
function version({ kind, metadata, spec }: KubeObject): string {
  // Without a generation, and the apiserver writes its status.
  if (/^(PersistentVolumeClaim|APIService)$/.test(kind))
    return `${kind}/${metadata.name} ${JSON.stringify(spec)}`;
  return `${kind}/${metadata.name} ${metadata.generation ?? metadata.resourceVersion}`;
}
