/** What a cluster contains: remembered when it is new, and restored between two suites that share it. */
import type { ApiClient, KubeObject } from '../api';
import { waitFor } from '../wait';

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    /** The preferred one first. */
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

/** A kind that can be listed and deleted. */
interface Collection {
  readonly path: string;
  readonly name: string;
  readonly namespaced: boolean;
}

/** An object of the cluster. */
interface Found {
  readonly collection: Collection;
  readonly object: KubeObject;
}

/** Path of an object -> what a suite may not change of it. */
export type Contents = ReadonlyMap<string, string>;

/** Kubernetes writes these by itself, all the time. */
const OF_KUBERNETES = [
  /^\/api\/v1\/.*\/(events|endpoints)\//,
  /^\/apis\/events\.k8s\.io\//,
  /^\/apis\/discovery\.k8s\.io\//,
  /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/(kube-system|kube-node-lease)\//,
  // A namespace that goes takes them along.
  /^\/api\/v1\/.*\/(serviceaccounts\/default|configmaps\/kube-root-ca\.crt)$/,
];

/** Admission can refuse the deletion of everything else, so it goes first. */
const ADMISSION = '/apis/admissionregistration.k8s.io/';
const NAMESPACES = '/api/v1/namespaces';
/** Less than the five seconds for which Kubernetes leaves a deleted namespace alone, and than the second to which its time is cut. */
const UNTOUCHED_MS = 3_000;
const DELETION = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };

/** Everything that the cluster contains now. */
export async function contentsOf(api: ApiClient): Promise<Contents> {
  const lasting = (await findAll(api)).filter(
    ({ object }) => object.metadata.deletionTimestamp === undefined,
  );
  return new Map(lasting.map((found) => [pathOf(found), fingerprint(found.object)]));
}

/** The objects of a new cluster that a suite has changed or deleted; they cannot be restored. */
export async function changesOf(api: ApiClient, before: Contents): Promise<readonly string[]> {
  const now = await contentsOf(api);
  return [...before].filter(([path, print]) => now.get(path) !== print).map(([path]) => path);
}

/**
 * Deletes every object that a new cluster did not have, and resolves when all are gone and no policy among them has an effect.
 *
 * @throws when an object does not go.
 */
export async function restore(api: ApiClient, before: Contents): Promise<void> {
  const isExtra = (found: Found) => !before.has(pathOf(found));
  const extra = (await findAll(api)).filter(isExtra);
  const admission = extra.filter(({ collection }) => collection.path.startsWith(ADMISSION));
  if (admission.length > 0) {
    await Promise.all(admission.map((found) => remove(api, found)));
    await untilPoliciesAreRead(api);
  }
  const collections = new Set(extra.map(({ collection }) => collection));
  await waitFor('the cluster to be as new', async () => {
    const left = (await findAll(api, [...collections])).filter(isExtra);
    await Promise.all(left.map((found) => remove(api, found)));
    await Promise.all(left.map((found) => finalize(api, found, left)));
    if (left.length > 0) throw new Error(`left: ${left.map(pathOf).join(', ')}`);
    // Controllers may have made others in the meantime.
    const more = (await findAll(api)).filter(isExtra);
    for (const { collection } of more) collections.add(collection);
    return more.length === 0;
  });
}

/** Deletes it, even if its controller does not run any more. */
async function remove(api: ApiClient, found: Found): Promise<void> {
  const { object } = found;
  const path = pathOf(found);
  if (object.metadata.deletionTimestamp === undefined) await api.send('DELETE', path, DELETION);
  else if ((object.metadata.finalizers as readonly string[] | undefined)?.length)
    await api.send('PATCH', path, { metadata: { finalizers: null } });
}

/**
 * Kubernetes waits for five seconds before it looks at a namespace that is deleted; an empty one can go at once. Once Kubernetes
 * empties it, its end is awaited: what the next suite makes in a namespace of this name would be deleted along with it.
 */
async function finalize(
  api: ApiClient,
  { collection, object }: Found,
  left: readonly Found[],
): Promise<void> {
  const { name, deletionTimestamp } = object.metadata;
  if (collection.path !== NAMESPACES || deletionTimestamp == null) return;
  if (Date.now() - Date.parse(String(deletionTimestamp)) > UNTOUCHED_MS) return;
  if (left.some((other) => other.object.metadata.namespace === name)) return;
  await api.send('PUT', `${NAMESPACES}/${name}/finalize`, { ...object, spec: { finalizers: [] } });
}

async function findAll(api: ApiClient, among?: readonly Collection[]): Promise<readonly Found[]> {
  const collections = among ?? (await collectionsOf(api));
  return (await Promise.all(collections.map((collection) => list(api, collection)))).flat();
}

async function list(api: ApiClient, collection: Collection): Promise<readonly Found[]> {
  const { status, text } = await api.sendWhenServed('GET', collection.path);
  // The kind was deleted since the apiserver named it.
  if (status === 404) return [];
  if (status !== 200) throw new Error(`GET ${collection.path}: ${status} ${text}`);
  const { items } = JSON.parse(text) as { items: readonly KubeObject[] };
  return items
    .map((object) => ({ collection, object }))
    .filter((found) => !OF_KUBERNETES.some((pattern) => pattern.test(pathOf(found))));
}

/** Each kind once, in the version that its group prefers, or in the first other one that has it. */
async function collectionsOf(api: ApiClient): Promise<readonly Collection[]> {
  const { groups } = await api.get<GroupList>('/apis');
  const lists = groups.map(async ({ versions }) => {
    const paths = versions.map(({ groupVersion }) => `/apis/${groupVersion}`);
    const all = (await Promise.all(paths.map((path) => resourcesOf(api, path)))).flat();
    return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
  });
  return (await Promise.all([resourcesOf(api, '/api/v1'), ...lists])).flat();
}

/** @param version its path */
async function resourcesOf(api: ApiClient, version: string): Promise<readonly Collection[]> {
  const { status, text } = await api.send('GET', version);
  // A group whose definition is gone, or whose server does not run.
  if (status !== 200) return [];
  return (JSON.parse(text) as ResourceList).resources
    .filter(
      ({ name, verbs }) => !name.includes('/') && ['list', 'delete'].every((verb) => verbs.includes(verb)),
    )
    .map(({ name, namespaced }) => ({ path: `${version}/${name}`, name, namespaced }));
}

function pathOf({ collection: { path, name, namespaced }, object }: Found): string {
  const { namespace, name: own } = object.metadata;
  return namespaced
    ? path.replace(new RegExp(`/${name}$`), `/namespaces/${namespace}/${name}/${own}`)
    : `${path}/${own}`;
}

/** The object without what Kubernetes writes: the rules of an aggregated role are those of other roles. */
function fingerprint({ metadata, status: _status, ...rest }: KubeObject): string {
  const { uid, labels, annotations, finalizers } = metadata;
  const isAggregated = rest.aggregationRule != null;
  return JSON.stringify({
    uid,
    labels,
    annotations,
    finalizers,
    ...rest,
    ...(isAggregated && { rules: [] }),
  });
}

/** A policy that labels an object, and one that refuses the label: what was deleted before them has no effect after them. */
const CANARY = 'fluxqueue-test-canary';
const POLICIES: readonly KubeObject[] = ['Validating', 'Mutating'].flatMap((form) => {
  const isValidating = form === 'Validating';
  const kind = `${form}AdmissionPolicy`;
  const of = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: CANARY } };
  const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const common = {
    matchConstraints: { resourceRules: [rules] },
    matchConditions: [{ name: 'canary', expression: `object.metadata.name == '${CANARY}'` }],
    failurePolicy: 'Fail',
  };
  const applied = { expression: `Object{metadata: Object.metadata{labels: {'canary-mutated': 'yes'}}}` };
  const effect = isValidating
    ? { validations: [{ expression: `!('canary-mutated' in object.metadata.labels)` }] }
    : {
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: applied }],
      };
  const binding = { policyName: CANARY, ...(isValidating && { validationActions: ['Deny'] }) };
  return [
    { ...of, kind, spec: { ...common, ...effect } },
    { ...of, kind: `${kind}Binding`, spec: binding },
  ];
});

/** The apiserver reads policies and their deletions in order, about once a second. */
async function untilPoliciesAreRead(api: ApiClient): Promise<void> {
  const create = async (labels: Record<string, string>) => {
    const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: CANARY, labels } };
    return (await api.send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', probe)).text;
  };
  const isRefused = (text: string) => text.includes('"Failure"');
  const isMutated = (text: string) => text.includes('canary-mutated');
  await api.apply(POLICIES);
  // Refused only if both are in force.
  await waitFor('both canaries', async () => isRefused(await create({ a: 'b' })));
  for (const policy of POLICIES) await api.request('DELETE', `${await api.collection(policy)}/${CANARY}`);
  await waitFor('the end of both canaries', async () => {
    const answers = await Promise.all([create({ a: 'b' }), create({ 'canary-mutated': 'no' })]);
    return !isMutated(answers[0]!) && !answers.some(isRefused);
  });
}
