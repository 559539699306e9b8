/** Versions: of the apiserver, of the CRDs, and of the images beside that of this program. */
import { OLDEST_KUBERNETES } from '../../../constructs/api/kubernetes-versions';
import { CRD_DEFINITIONS, type CrdDefinition, type FieldSchema } from '../../../constructs/crds/definitions';
import { clusterWide, validatingAdmissionPolicies } from '../../kubernetes/paths';
import type { Condition, KubernetesObject } from '../../kubernetes/types';
import { type Context, error, type Finding, listed, ok, warning } from './finding';
import type { Deployment } from './objects';

interface Crd extends KubernetesObject, Pick<CrdDefinition, 'spec'> {
  readonly metadata: KubernetesObject['metadata'];
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface ServerVersion {
  readonly gitVersion: string;
  readonly minor: string;
}

const customResourceDefinitions = clusterWide('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');

export async function checkKubernetes({ reader }: Context): Promise<readonly Finding[]> {
  return [kubernetesFinding((await reader.get<ServerVersion>('/version'))!)];
}

/** @internal exported for tests */
export function kubernetesFinding({ gitVersion, minor }: ServerVersion): Finding {
  return Number.parseInt(minor, 10) >= OLDEST_KUBERNETES
    ? ok(`the apiserver is ${gitVersion}`)
    : error(
        `the apiserver is ${gitVersion}, which does not serve ValidatingAdmissionPolicy in v1`,
        `upgrade the cluster to 1.${OLDEST_KUBERNETES} or newer`,
      );
}

/** The CRD of MiniClusters is missing on purpose where the stack was made without them. */
export async function checkCrds({ reader }: Context): Promise<readonly Finding[]> {
  const guards = await reader.ofTheStack<KubernetesObject>(validatingAdmissionPolicies());
  const hasMiniClusters = guards.some(
    ({ metadata }) => metadata.name === 'fluxqueue-guard-minicluster-rights',
  );
  const expected = CRD_DEFINITIONS.filter(({ spec }) => hasMiniClusters || spec.names.kind !== 'MiniCluster');
  const found = await Promise.all(
    expected.map(async (definition) => {
      const crd = await reader.get<Crd>(customResourceDefinitions(definition.metadata.name));
      return crdFindings(definition, crd);
    }),
  );
  const wrong = found.flat();
  return wrong.length > 0
    ? wrong
    : [ok(`${listed(expected.map(({ spec }) => spec.names.plural))} have the fields of this version`)];
}

const APPLY_BASE =
  'apply the first file of the stack again: kubectl apply --server-side -f fluxqueue-0-base.k8s.yaml';
const SAME_VERSION =
  'use the kubectl fluxqueue of the version that the cluster runs, or apply that of this one';

/** What is wrong with a CRD. @internal exported for tests */
export function crdFindings(expected: CrdDefinition, crd: Crd | undefined): readonly Finding[] {
  const { name } = expected.metadata;
  if (crd === undefined) return [error(`CustomResourceDefinition ${name} is missing`, APPLY_BASE)];
  const isEstablished = crd.status?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  if (isEstablished !== true)
    return [
      error(
        `CustomResourceDefinition ${name} is not established`,
        `read why in: kubectl get crd ${name} -o yaml`,
      ),
    ];
  return expected.spec.versions.flatMap((version) => {
    const served = crd.spec.versions.find((each) => each.name === version.name && each.served);
    if (served === undefined) return [error(`${name} does not serve ${version.name}`, APPLY_BASE)];
    const [wanted, has] = [version, served].map(({ schema }) => fieldsOf(schema?.openAPIV3Schema ?? {}));
    const missing = [...wanted!].filter((field) => !has!.has(field));
    const added = [...has!].filter((field) => !wanted!.has(field));
    if (missing.length > 0)
      return [error(`${name} lacks fields of this version: ${listed(missing)}`, APPLY_BASE)];
    return added.length === 0
      ? []
      : [warning(`${name} has fields that this version does not know: ${listed(added)}`, SAME_VERSION)];
  });
}

/** Paths of all fields of a schema. */
function fieldsOf(schema: FieldSchema, path = ''): Set<string> {
  const { properties = {}, items, additionalProperties } = schema;
  const fields = new Set<string>();
  for (const [key, member] of Object.entries(properties)) {
    const field = path === '' ? key : `${path}.${key}`;
    fields.add(field);
    for (const inner of fieldsOf(member, field)) fields.add(inner);
  }
  for (const member of [items, additionalProperties])
    if (typeof member === 'object') for (const inner of fieldsOf(member, `${path}[]`)) fields.add(inner);
  return fields;
}

export async function checkImages({ reader, version }: Context): Promise<readonly Finding[]> {
  return imageFindings([...(await reader.deployments()), ...(await reader.statefulSets())], version);
}

const PROGRAM = '/app/runtime.js';
const SEMANTIC_VERSION = /^v?(\d+\.\d+\.\d+([-+][-+.0-9A-Za-z]*)?)$/;

/** The containers of the runtime, by their command: their images may be copies of any name. @internal exported for tests */
export function imageFindings(deployments: readonly Deployment[], version: string): readonly Finding[] {
  const images = deployments.flatMap(({ metadata, spec: { template } }) =>
    [...template.spec.containers, ...(template.spec.initContainers ?? [])]
      .filter(({ command = [] }) => command.includes(PROGRAM))
      .map(({ name, image = '' }) => ({ place: `${metadata.name}/${name}`, tag: tagOf(image) })),
  );
  if (images.length === 0) return [];
  const tags = new Set(images.map(({ tag }) => tag));
  if (tags.size > 1)
    return [
      warning(
        `the programs of the stack have several versions: ${images.map(({ place, tag }) => `${place} ${tag}`).join(', ')}`,
        'apply all files of one version of the stack',
      ),
    ];
  const [tag = ''] = tags;
  const deployed = SEMANTIC_VERSION.exec(tag)?.[1];
  if (deployed === undefined)
    return [ok(`all programs of the stack have one image, whose tag names no version: ${tag}`)];
  return deployed === version
    ? [ok(`all programs of the stack are version ${version}, as this one`)]
    : [warning(`the stack is version ${deployed}, this program ${version}`, SAME_VERSION)];
}

/** The tag of an image, else its digest, else `latest`. */
function tagOf(image: string): string {
  const [name = '', digest] = image.split('@');
  const tag = /:([^:/]+)$/.exec(name)?.[1];
  return tag ?? digest ?? 'latest';
}
