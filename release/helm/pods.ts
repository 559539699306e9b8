/** Values of the pods: for each a field of a manifest, whose content is its default. */

import type { Schema, Value } from './values';
import type { KubeObject } from './variants';

/** A field of an object that a value sets. */
export interface Parameter {
  readonly kind: string;
  readonly name: string;
  /** Keys on the way to the field; `name=X` is the entry of a list with this name. */
  readonly path: readonly string[];
  readonly value: string;
  /** How the value is written; `block` leaves the field out if the value is empty. */
  readonly as: 'number' | 'text' | 'block' | 'optional text';
}

const POD = ['spec', 'template', 'spec'] as const;
const PODS = [
  { component: 'controller', kind: 'Deployment', container: 'controller', replicated: true },
  { component: 'webhook', kind: 'Deployment', container: 'webhook', replicated: true },
  { component: 'reader', kind: 'Deployment', container: 'reader', replicated: true },
  { component: 'database', kind: 'StatefulSet', container: 'postgres', replicated: false },
] as const;

type Field = readonly [
  name: string,
  path: readonly string[],
  as: Parameter['as'],
  schema: Schema,
  says: string,
];

const OBJECT: Schema = { type: 'object' };
const FIELDS: readonly Field[] = [
  ['nodeSelector', [...POD, 'nodeSelector'], 'block', OBJECT, 'Labels that a node must have.'],
  ['affinity', [...POD, 'affinity'], 'block', OBJECT, 'Affinity of the pods.'],
  ['tolerations', [...POD, 'tolerations'], 'block', { type: 'array' }, 'Tolerations of the pods.'],
  [
    'priorityClassName',
    [...POD, 'priorityClassName'],
    'text',
    { type: 'string' },
    'PriorityClass of the pods.',
  ],
];

const resources = (container: string): Field => [
  'resources',
  [...POD, 'containers', `name=${container}`, 'resources'],
  'block',
  OBJECT,
  'Resources of the main container; what is given is merged with these.',
];
const REPLICAS: Field = [
  'replicas',
  ['spec', 'replicas'],
  'number',
  { type: 'integer', minimum: 1 },
  'Number of replicas.',
];

/** Every value of pods and the field that it sets. @param objects of the default stack, which has the defaults */
export function podValues(objects: readonly KubeObject[]): (Value & { readonly parameter: Parameter })[] {
  const all = PODS.flatMap(({ component, kind, container, replicated }) =>
    [...(replicated ? [REPLICAS] : []), resources(container), ...FIELDS].map((field) => ({
      component,
      kind,
      field,
      owner: component as string,
    })),
  );
  const fluxion = {
    component: 'controller',
    kind: 'Deployment',
    field: resources('fluxion'),
    owner: 'fluxion',
  };
  return [...all, fluxion].map(({ component, kind, field: [name, path, as, schema, says], owner }) => {
    const parameter = { kind, name: `fluxqueue-${component}`, path, value: `pods.${owner}.${name}`, as };
    const object = objects.find((each) => each.kind === kind && each.metadata.name === parameter.name);
    const initial = get(object, path) ?? (schema.type === 'array' ? [] : {});
    return { path: parameter.value, initial, schema, says, parameter };
  });
}

const DATABASE = 'fluxqueue-database';
const CLAIM = `data-${DATABASE}-0`;

/** Further fields: of the pods, and of the database's volume. */
export const OTHERS: readonly Parameter[] = [
  ...PODS.map(
    ({ component, kind }): Parameter => ({
      kind,
      name: `fluxqueue-${component}`,
      path: [...POD, 'imagePullSecrets'],
      value: 'images.pullSecrets',
      as: 'block',
    }),
  ),
  size('PersistentVolumeClaim', CLAIM, ['spec', 'resources', 'requests', 'storage']),
  className('PersistentVolumeClaim', CLAIM, ['spec', 'storageClassName']),
  className('StatefulSet', DATABASE, ['spec', 'volumeClaimTemplates', '0', 'spec', 'storageClassName']),
  size('Cluster', DATABASE, ['spec', 'storage', 'size']),
  className('Cluster', DATABASE, ['spec', 'storage', 'storageClass']),
];

function size(kind: string, name: string, path: readonly string[]): Parameter {
  return { kind, name, path, value: 'database.storage', as: 'text' };
}

function className(kind: string, name: string, path: readonly string[]): Parameter {
  return { kind, name, path, value: 'database.storageClassName', as: 'optional text' };
}

/** Sets a field in a copy of an object. */
export function withField(object: KubeObject, path: readonly string[], value: unknown): KubeObject {
  const copy = structuredClone(object);
  const parent = get(copy, path.slice(0, -1)) as Record<string, unknown>;
  parent[path.at(-1)!] = value;
  return copy;
}

function get(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => {
    const name = /^name=(.*)/.exec(key)?.[1];
    if (name !== undefined) return (at as { name: string }[]).find((each) => each.name === name);
    return (at as Record<string, unknown> | undefined)?.[key];
  }, object);
}
