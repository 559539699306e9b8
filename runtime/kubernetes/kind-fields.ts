/** Fields of objects of the kinds of constructs/api/workload-kinds.ts, which the program knows only as data. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import {
  type AddedContainer,
  type FieldPath,
  type PodCount,
  WORKLOAD_KINDS,
  type WorkloadKind,
} from '../../constructs/api/workload-kinds';
import { fieldAt, withField } from './fields';
import { namespaced } from './paths';
import type { KubernetesObject, PodSpec } from './types';

/** An object of one of the kinds. */
export interface KindObject extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly KindCondition[] };
}

interface KindCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface Template {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** A pod set as the object has it. */
export interface KindPodSet {
  readonly name: string;
  /** Pods that run at once. */
  readonly count: number;
  /** Whether a pod that succeeded is followed by another one. */
  readonly goesOn: boolean;
  /** As the controller of the kind makes pods of it. @default - the object has none */
  readonly template: Template | undefined;
  /** Path of its pod spec in the object. */
  readonly field: string;
}

export function isSuspended({ suspend }: WorkloadKind, object: KindObject): boolean {
  return fieldAt(object, suspend) === true;
}

/** Whether its controller may make its pods again after they succeeded or failed. */
export function mayRestart({ restarts }: WorkloadKind, object: KindObject): boolean {
  if (restarts === undefined) return false;
  const rules = fieldAt(object, restarts.rules);
  const isLimited = (rule: unknown) => restarts.limited.includes(String(fieldAt(rule, ['action'])));
  return (fieldAt(object, restarts.most) ?? 0) !== 0 || (Array.isArray(rules) && !rules.every(isLimited));
}

/** The pod sets of the object, in its order. */
export function kindPodSets({ podSets }: WorkloadKind, object: KindObject): readonly KindPodSet[] {
  const { in: collection, template: at, count, completions } = podSets;
  return entriesOf(fieldAt(object, collection)).map(([key, set]) => {
    const name = podSets.name === undefined ? key.toLowerCase() : String(fieldAt(set, podSets.name));
    const pods = count.reduce((product, factor) => product * countOf(set, factor), 1);
    const atOnce = count.length === 0 ? 1 : countOf(set, count.at(-1)!);
    const tasks = completions === undefined ? undefined : numberAt(set, completions);
    const field = [...collection, key, ...at, 'spec'].reduce((path, part) =>
      /^[0-9]+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`,
    );
    return {
      name,
      count: pods,
      goesOn: (tasks ?? 0) > atOnce,
      template: withAdded(templateIn(set, at), name, podSets.initContainer),
      field,
    };
  });
}

/** Not every definition says what a template is: that of the MPIJob takes any object. Undefined: it is none of a pod. */
function templateIn(set: unknown, path: FieldPath): Template | undefined {
  const template = fieldAt(set, path);
  const listAt = (name: string) => fieldAt(template, ['spec', name]);
  const isTemplate =
    isList(listAt('containers')) && ['initContainers', 'volumes'].every((name) => isList(listAt(name) ?? []));
  return isTemplate ? (template as Template) : undefined;
}

/** Of objects. */
function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null);
}

function withAdded(
  template: Template | undefined,
  set: string,
  added: AddedContainer | undefined,
): Template | undefined {
  if (template === undefined || added === undefined || !added.podSets.includes(set)) return template;
  const { name, image, resources } = added;
  const own = template.spec.initContainers ?? [];
  return withField(template, ['spec', 'initContainers'], [...own, { name, image, resources }]) as Template;
}

/** The object with other pod templates in its pod sets. */
export function withTemplates(
  { podSets: { in: collection, template } }: WorkloadKind,
  object: KindObject,
  change: (template: Template) => Template,
): KindObject {
  const changed = (set: unknown) => {
    const own = templateIn(set, template);
    return own === undefined ? set : withField(set, template, change(own));
  };
  const sets = fieldAt(object, collection);
  if (typeof sets !== 'object' || sets === null) return object;
  const all = Array.isArray(sets)
    ? sets.map(changed)
    : Object.fromEntries(Object.entries(sets).map(([key, set]) => [key, changed(set)]));
  return withField(object, collection, all) as KindObject;
}

/** API path of objects of the kind. */
export function kindPath({ group, version, plural }: Pick<WorkloadKind, 'group' | 'version' | 'plural'>) {
  return namespaced(group, version, plural);
}

export function apiVersionOf({ group, version }: Pick<WorkloadKind, 'group' | 'version'>): string {
  return `${group}/${version}`;
}

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/**
 * The uid of the object for which a controller made this one: under the name of its own object, by an account of another namespace.
 *
 * @param kind of the object that was made
 */
export function makerUidOf(kind: string, metadata: KubernetesObject['metadata']): string | undefined {
  const { maker } = WORKLOAD_KINDS.find((each) => each.kind === kind) ?? {};
  const creator = metadata.annotations?.[USER_ANNOTATION] ?? '';
  if (maker === undefined || !isAccountOfOthers(creator, metadata.namespace)) return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const isMaker =
    owner?.kind === maker.kind &&
    owner.apiVersion.startsWith(`${maker.group}/`) &&
    owner.name === metadata.name;
  return isMaker ? owner.uid : undefined;
}

/** Whether the user is a ServiceAccount of another namespace than this: under those of their own, users run pods of theirs. */
export function isAccountOfOthers(user: string, namespace: string | undefined): boolean {
  return user.startsWith(SERVICE_ACCOUNT) && !user.startsWith(`${SERVICE_ACCOUNT}${namespace}:`);
}

function entriesOf(sets: unknown): readonly (readonly [string, unknown])[] {
  return typeof sets === 'object' && sets !== null ? Object.entries(sets) : [];
}

function countOf(set: unknown, { of, atMost }: PodCount): number {
  const most = atMost === undefined ? undefined : numberAt(set, atMost);
  return Math.min(numberAt(set, of) ?? 1, most ?? Number.POSITIVE_INFINITY);
}

function numberAt(set: unknown, path: FieldPath): number | undefined {
  const value = fieldAt(set, path);
  return typeof value === 'number' ? value : undefined;
}
