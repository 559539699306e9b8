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
