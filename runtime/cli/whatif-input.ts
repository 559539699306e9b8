/** The objects in a file of `whatif`. Pure functions. */
import { MINICLUSTER_GROUP } from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { FluxqError } from '../errors';
import { valuesIn } from './manifest-yaml';

export interface AskedObject {
  readonly object: Readonly<Record<string, unknown>>;
  /** As users name it: `job/train`. */
  readonly name: string;
  /** @default - it names none */
  readonly namespace?: string;
}

export interface WhatIfInput {
  readonly objects: readonly AskedObject[];
  /** What is left out, as sentences. */
  readonly notes: readonly string[];
}

/** What `whatif` takes, in a sentence. */
export const WHATIF_KINDS = `a Job, Pod, MiniCluster or ${WORKLOAD_KINDS[0]!.kind} (or another workload kind)`;

/** Kinds that wait in a queue, by API group, or by version in the group of the core. */
const KINDS: Readonly<Record<string, string>> = {
  Job: 'batch',
  Pod: 'v1',
  MiniCluster: MINICLUSTER_GROUP,
  ...Object.fromEntries(WORKLOAD_KINDS.map(({ kind, group }) => [kind, group])),
};

/**
 * The workloads of a file, also of its lists. What else a file brings with them, such as ConfigMaps, waits in no queue: it is
 * left out with a note.
 * @throws FluxqError FLUXQ_WHATIF_INPUT
 */
export function objectsIn(text: string, source: string): WhatIfInput {
  const all = parse(text, source).flatMap((value) => itemsOf(value, source));
  const named = all.map((object) => ({ object, waits: waits(object) }));
  const objects = named.filter(({ waits }) => waits).map(({ object }) => asked(object));
  const notes = named
    .filter(({ waits }) => !waits)
    .map(({ object }) => `left out: ${asked(object).name} waits in no queue`);
  if (objects.length > 0) return { objects, notes };
  const found = named.map(({ object }) => asked(object).name).join(', ');
  throw invalid(source, found === '' ? 'is empty' : `has only ${found}`);
}

function parse(text: string, source: string): unknown[] {
  const refused = (mistake: string) => invalid(source, `is not YAML: ${mistake}`);
  return valuesIn(text, refused).filter((value) => value !== null);
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function itemsOf(value: unknown, source: string): Fields[] {
  if (!isFields(value) || typeof value.kind !== 'string')
    throw invalid(source, 'has a document that is not an object of Kubernetes');
  if (!value.kind.endsWith('List')) return [value];
  if (!Array.isArray(value.items)) throw invalid(source, `has a ${value.kind} without items`);
  return value.items.flatMap((item: unknown) => itemsOf(item, source));
}

function waits({ apiVersion, kind }: Fields): boolean {
  return typeof apiVersion === 'string' && KINDS[`${kind}`] === apiVersion.split('/')[0];
}

function asked(object: Fields): AskedObject {
  const metadata = isFields(object.metadata) ? object.metadata : {};
  const { name, generateName, namespace } = metadata;
  const shown =
    typeof name === 'string'
      ? name
      : typeof generateName === 'string'
        ? `${generateName}…`
        : 'without a name';
  return {
    object,
    name: `${`${object.kind}`.toLowerCase()}/${shown}`,
    ...(typeof namespace === 'string' && { namespace }),
  };
}

function invalid(source: string, problem: string): FluxqError {
  return new FluxqError('FLUXQ_WHATIF_INPUT', problem, {
    field: source,
    remedy: `give the YAML or JSON of ${WHATIF_KINDS}, as kubectl apply takes it`,
  });
}
