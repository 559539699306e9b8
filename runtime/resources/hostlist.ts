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
