/**
 * The taints that pods tolerate, as a part of their jobspec. A toleration is written like a taint, `key=value:effect`, without
 * the parts that do not matter; `*` is any key. Which taints nodes have is asked when a node is considered: a jobspec depends on
 * its workload alone, and a node that gets a taint changes nothing that waits.
 */
import type { Toleration } from './pod';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

const PREFIX = 'taint:';
const ANY = '*';

/** Whether a taint keeps pods off the node; PreferNoSchedule does not. */
export function repels({ effect }: Pick<Taint, 'effect'>): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

/** The property of a node with this taint: `taint:key=value:effect`. */
export const taintProperty = ({ key, value = '', effect }: Taint) => `${PREFIX}${key}=${value}:${effect}`;

/** The taint in a property of a node, `key=value:effect`; undefined for any other property. */
export function taintIn(property: string): string | undefined {
  return property.startsWith(PREFIX) ? property.slice(PREFIX.length) : undefined;
}

/**
 * The tolerations that matter, sorted, so that equal pods have equal shapes in whatever order they are written.
 * @returns undefined if every taint is tolerated
 */
export function writtenTolerations(tolerations: readonly Toleration[] = []): readonly string[] | undefined {
  const written = new Set(tolerations.flatMap(writtenToleration));
  return written.has(ANY) ? undefined : [...written].sort();
}

/** Rule of Kubernetes: Exists without a key tolerates all keys, and no effect means every effect. */
function writtenToleration({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration): string[] {
  const isKnown = operator === 'Exists' || (operator === 'Equal' && key !== '');
  if (!isKnown || (effect !== '' && !repels({ effect }))) return [];
  const keyed = key === '' ? ANY : key;
  return [`${keyed}${operator === 'Equal' ? `=${value}` : ''}${effect === '' ? '' : `:${effect}`}`];
}

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** @param written by `writtenTolerations`. @param taint `key=value:effect` */
export function tolerates(written: readonly string[], taint: string): boolean {
  const known = sets.get(written) ?? new Set(written);
  sets.set(written, known);
  const [pair = '', effect = ''] = splitAt(taint, taint.lastIndexOf(':'));
  const [key = ''] = splitAt(pair, pair.indexOf('='));
  return [pair, key, ANY].some((one) => known.has(one) || known.has(`${one}:${effect}`));
}

function splitAt(text: string, place: number): readonly string[] {
  return [text.slice(0, place), text.slice(place + 1)];
}
