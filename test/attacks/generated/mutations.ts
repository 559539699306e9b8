/** Every single change of an object that the schema of the apiserver knows, and pairs of changes of its spec. */
import { KUEUE_QUEUE_LABEL } from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
}

export type Schemas = Readonly<Record<string, Schema>>;

type Step = string | number;
type Value = string | number | boolean | null | object;

export interface Mutation {
  readonly path: readonly Step[];
  readonly object: KubeObject;
}

interface Change {
  readonly path: readonly Step[];
  readonly value: Value;
}

/** Deeper fields are those of volumes, probes and affinities, which have no place in a grant of their own. */
const DEEPEST = 7;
/** The apiserver writes these, or takes them for a precondition. */
const NOT_OF_USERS: ReadonlySet<string> = new Set([
  'managedFields',
  'creationTimestamp',
  'generation',
  'resourceVersion',
  'selfLink',
  'uid',
  'namespace',
  'name',
  'status',
  'apiVersion',
  'kind',
]);
const VALUES: Readonly<Record<string, readonly Value[]>> = {
  integer: [0, 1, 7, 2_147_483_647],
  number: [0.5],
  boolean: [true, false],
  string: ['attack', '', '1000'],
};

/** What a grant is about: the marks of the object and of its template, and the fields directly in either spec. */
const OF_THE_GRANT = /^(spec\.template\.)?(metadata\.(labels|annotations)|spec)\.[^.]+(\/[^.]+)?$/;

const ownedBy = (apiVersion: string, kind: string): readonly [readonly Step[], Value] => [
  ['metadata', 'ownerReferences'],
  [{ apiVersion, kind, name: 'x', uid: '6f1d2a0e-0000-4000-8000-000000000001', controller: true }],
];

/** One owner of each sort that admission tells apart, and what keeps it from an object of others. */
const DISGUISES: readonly (readonly [name: string, change: readonly [readonly Step[], Value]])[] = [
  ['of a JobSet', ownedBy('jobset.x-k8s.io/v1alpha2', 'JobSet')],
  ['of a TrainJob', ownedBy('trainer.kubeflow.org/v1alpha1', 'TrainJob')],
  ['of a MiniCluster', ownedBy('flux-framework.org/v1alpha2', 'MiniCluster')],
  ['of a ReplicaSet', ownedBy('apps/v1', 'ReplicaSet')],
  ['of a Job', ownedBy('batch/v1', 'Job')],
  ['of something else', ownedBy('example.com/v1', 'Operated')],
  ['of Kueue', [['metadata', 'labels', KUEUE_QUEUE_LABEL], 'x']],
  ['of a kubelet', [['metadata', 'annotations', 'kubernetes.io/config.mirror'], 'x']],
];

/** @param keys of the maps of labels and annotations that are changed, beside one of nobody */
export class Mutations {
  constructor(
    private readonly schemas: Schemas,
    private readonly keys: readonly string[],
  ) {}

  /** @param root name of the schema of the object */
  *of(object: KubeObject, root: string): Generator<Mutation> {
    for (const { path, value } of this.walk({ $ref: `#/components/schemas/${root}` }, [], object))
      yield { path, object: withValue(object, path, value) };
  }

  /** Two changes at once of fields directly in the spec: one may open what the other needs. */
  *pairs(object: KubeObject, root: string): Generator<Mutation> {
    const single = [...this.walk({ $ref: `#/components/schemas/${root}` }, [], object)].filter(
      ({ path }) => path.length === 2 && path[0] === 'spec',
    );
    for (const [i, one] of single.entries())
      for (const other of single.slice(i + 1)) {
        if (one.path[1] === other.path[1]) continue;
        const changed = withValue(object, one.path, one.value);
        yield {
          path: [...one.path, '+', ...other.path.slice(1)],
          object: withValue(changed, other.path, other.value),
        };
      }
  }

  /** A change that reaches the grant, beside one by which the object seems to be another's: that may turn off what forbids the first. */
  *disguised(object: KubeObject, root: string): Generator<Mutation> {
    const single = [...this.walk({ $ref: `#/components/schemas/${root}` }, [], object)].filter(({ path }) =>
      OF_THE_GRANT.test(path.join('.')),
    );
    for (const [name, disguise] of DISGUISES) {
      const disguised = withValue(object, ...disguise);
      for (const { path, value } of single)
        yield { path: [...path, '+', name], object: withValue(disguised, path, value) };
    }
  }

  private *walk(schema: Schema, path: readonly Step[], live: unknown): Generator<Change> {
    const found = this.resolved(schema);
    if (path.length > 1 && live !== undefined) yield { path, value: null };
    if (path.length >= DEEPEST) return;
    if (found.properties ?? found.additionalProperties ?? found.items) {
      for (const [step, inner] of this.fieldsOf(found, path))
        yield* this.walk(inner, [...path, step], fieldOf(live, step));
      return;
    }
    for (const value of VALUES[found.type ?? 'string'] ?? []) if (value !== live) yield { path, value };
  }

  private fieldsOf(
    { properties, additionalProperties, items }: Schema,
    path: readonly Step[],
  ): readonly (readonly [Step, Schema])[] {
    if (properties !== undefined)
      return Object.entries(properties).filter(([name]) => !NOT_OF_USERS.has(name));
    if (items !== undefined) return [[0, items]];
    const isMetadata = path.at(-1) === 'labels' || path.at(-1) === 'annotations';
    const names = isMetadata ? [...this.keys, 'someone/key'] : ['cpu', 'memory', 'someone/key'];
    return names.map((name) => [name, additionalProperties!]);
  }

  private resolved(schema: Schema): Schema {
    const [only] = schema.allOf ?? [];
    const { $ref } = only ?? schema;
    return $ref === undefined ? (only ?? schema) : (this.schemas[$ref.split('/').at(-1)!] ?? {});
  }
}

function fieldOf(value: unknown, step: Step): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<Step, unknown>)[step] : undefined;
}

/** A copy with this value; null removes the field. */
function withValue<T>(object: T, path: readonly Step[], value: Value): T {
  const copy = structuredClone(object);
  let place: Record<Step, unknown> = copy as Record<Step, unknown>;
  for (const [i, step] of path.slice(0, -1).entries()) {
    place[step] ??= typeof path[i + 1] === 'number' ? [] : {};
    place = place[step] as Record<Step, unknown>;
  }
  const last = path.at(-1)!;
  if (value !== null) place[last] = value;
  else if (Array.isArray(place)) place.splice(Number(last), 1);
  else delete place[last];
  return copy;
}
