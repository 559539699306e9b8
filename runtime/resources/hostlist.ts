/** RFC 29 hostlists: the short text of an ordered list of host names, e.g. `node[0-3,7],login`. */

interface Run {
  readonly prefix: string;
  first: string;
  last: string;
}

/** The names in their order; neighbours with one prefix and following numbers are folded. */
export function formatHostlist(names: readonly string[]): string {
  const groups: { prefix: string; runs: Run[] }[] = [];
  for (const name of names) {
    // Up to 15 digits: longer numbers lose their last digits in a double.
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

/** Leading zeros are part of a name: 09 is followed by 10, 9 by 10, but 09 never by 010. */
function successor({ first, last }: Run): string {
  return String(Number(last) + 1).padStart(first.startsWith('0') ? first.length : 0, '0');
}
/** RFC 29 hostlists: `web1,rack[0-2]node[08-11]`. */
const PIECE = /^(?:[^[\],\s]|\[[0-9,-]+\])+$/;

const RANGE = /^(\d+)(?:-(\d+))?$/;

/** What one hostlist may expand to; more is taken for a typing error. */
const LIMIT = 1_000_000;

/** The names of a hostlist, in order; undefined when it is malformed. */
export function parseHostlist(text: string): string[] | undefined {
  const names: string[] = [];
  for (const piece of splitOutsideBrackets(text)) {
    if (piece === '') continue;
    const expanded = PIECE.test(piece) ? expand(piece) : undefined;
    if (expanded === undefined || names.length + expanded.length > LIMIT) return undefined;
    for (const name of expanded) names.push(name);
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

function expand(piece: string): string[] | undefined {
  const [, prefix = '', inside, rest = ''] = /^([^[]*)\[([^\]]*)\](.*)$/s.exec(piece) ?? [];
  if (inside === undefined) return [piece];
  const numbers = expandNumbers(inside);
  const tails = expand(rest);
  if (numbers === undefined || tails === undefined || numbers.length * tails.length > LIMIT) return undefined;
  return numbers.flatMap((number) => tails.map((tail) => `${prefix}${number}${tail}`));
}

/** A leading zero gives the width: `08-10` is 08, 09, 10. */
function expandNumbers(inside: string): string[] | undefined {
  const numbers: string[] = [];
  for (const part of inside.split(',')) {
    const [, first, last = first] = RANGE.exec(part) ?? [];
    if (first === undefined || last === undefined) return undefined;
    const [from, to] = [Number(first), Number(last)];
    if (from > to || to - from > LIMIT) return undefined;
    const width = first.startsWith('0') ? first.length : 0;
    for (let n = from; n <= to; n++) numbers.push(`${n}`.padStart(width, '0'));
  }
  return numbers;
}
