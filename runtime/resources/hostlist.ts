/** Hostlists (RFC 29): ordered lists of host names as short text, e.g. `node[0-3,7],login` or `rack[0-2]node[08-11]`. */

interface Run {
  readonly prefix: string;
  first: string;
  last: string;
}

/** Formats names in their order; neighbours with the same prefix and consecutive numbers become a range. */
export function formatHostlist(names: readonly string[]): string {
  const groups: { prefix: string; runs: Run[] }[] = [];
  for (const name of names) {
    // Up to 15 digits: longer numbers lose digits in a double.
    const [, prefix, digits] = /^(.*?)(\d{1,15})$/.exec(name) ?? [];
    if (prefix === undefined || digits === undefined) {
      groups.push({ prefix: name, runs: [] });
      continue;
    }
    const group = groups.at(-1);
    if (group === undefined || group.prefix !== prefix || group.runs.length === 0) {
      groups.push({ prefix, runs: [{ prefix, first: digits, last: digits }] });
      continue;
    }
    const run = group.runs.at(-1)!;
    if (digits === successor(run)) run.last = digits;
    else group.runs.push({ prefix, first: digits, last: digits });
  }
  return groups.map(formatGroup).join(',');
}

function formatGroup({ prefix, runs }: { prefix: string; runs: readonly Run[] }): string {
  const [only] = runs;
  if (only === undefined) return prefix;
  if (runs.length === 1 && only.first === only.last) return prefix + only.first;
  return `${prefix}[${runs.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(',')}]`;
}

/** Leading zeros are part of a name: 10 follows both 09 and 9, but 010 does not follow 09. */
function successor({ first, last }: Run): string {
  return String(Number(last) + 1).padStart(first.startsWith('0') ? first.length : 0, '0');
}
/** One name or bracketed expression of a hostlist. */
const PIECE = /^(?:[^[\],\s]|\[[0-9,-]+\])+$/;

/** Longer numbers lose digits in a double. */
const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** Most names of one hostlist; more is taken for a typing error. */
const LIMIT = 1_000_000;

/** Most brackets of one name: real ones have a rack, a chassis and a node. */
const MOST_BRACKETS = 100;

/** The names of a hostlist in order; undefined if it is malformed. */
export function parseHostlist(text: string): string[] | undefined {
  const names: string[] = [];
  for (const piece of splitOutsideBrackets(text)) {
    if (piece === '') continue;
    // Counted before they are written out: each bracket multiplies them.
    if (!PIECE.test(piece) || countOf(piece) > LIMIT - names.length) return undefined;
    for (const name of expand(piece)) names.push(name);
  }
  return names;
}

function splitOutsideBrackets(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let piece = '';
  for (const letter of text) {
    if (letter === '[') depth++;
    if (letter === ']') depth--;
    if (letter === ',' && depth === 0) {
      pieces.push(piece);
      piece = '';
    } else piece += letter;
  }
  pieces.push(piece);
  return pieces;
}

/** How many names a piece has; Infinity if it is malformed. */
function countOf(piece: string): number {
  const counts = [...piece.matchAll(/\[([^\]]*)\]/g)].map(([, inside = '']) =>
    inside.split(',').reduce((sum, part) => sum + numbersIn(part), 0),
  );
  return counts.length > MOST_BRACKETS ? Infinity : counts.reduce((product, count) => product * count, 1);
}

function numbersIn(part: string): number {
  const [first, last] = rangeOf(part);
  const count = Number(last) - Number(first) + 1;
  return count > 0 ? count : Infinity;
}

/** Two texts that are no numbers if it is malformed. */
function rangeOf(part: string): readonly [first: string, last: string] {
  const [, first = '-', last = first] = RANGE.exec(part) ?? [];
  return [first, last];
}

/** @param piece whose names are counted, so it is well formed */
function expand(piece: string): string[] {
  const [, prefix = '', inside, rest = ''] = /^([^[]*)\[([^\]]*)\](.*)$/s.exec(piece) ?? [];
  if (inside === undefined) return [piece];
  const tails = expand(rest);
  return expandNumbers(inside).flatMap((number) => tails.map((tail) => `${prefix}${number}${tail}`));
}

/** A leading zero sets the width: `08-10` is 08, 09, 10. */
function expandNumbers(inside: string): string[] {
  return inside.split(',').flatMap((part) => {
    const [first] = rangeOf(part);
    const width = first.startsWith('0') ? first.length : 0;
    return Array.from({ length: numbersIn(part) }, (_, i) => `${Number(first) + i}`.padStart(width, '0'));
  });
}

/** node-2 before node-10, as people count. */
export const { compare: byNumber } = new Intl.Collator('en', { numeric: true });

/** Names in any order as a hostlist. */
export function hostlistOf(names: readonly string[]): string {
  return formatHostlist(names.toSorted(byNumber));
}
