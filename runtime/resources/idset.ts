/** RFC 22 idsets: the text form of a set of unit numbers, e.g. `0-3,7`. */
import { FluxqError } from '../errors';

const RANGE = /^(\d+)(?:-(\d+))?$/;

/**
 * Ascending numbers of an idset; brackets around it are allowed, the empty text is the empty set.
 * @throws FluxqError FLUXQ_FLUXION_IDSET
 */
export function parseIdset(text: string): number[] {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (bare === '') return [];
  const ids: number[] = [];
  for (const part of bare.split(',')) {
    const [, first, last] = RANGE.exec(part) ?? [];
    const from = Number(first);
    const to = last === undefined ? from : Number(last);
    // RFC 22 wants ascending, non-overlapping ranges: then no set of units has two texts.
    if (!(from <= to) || from <= (ids.at(-1) ?? -1)) throw malformed(text);
    for (let id = from; id <= to; id++) ids.push(id);
  }
  return ids;
}

/** How many numbers an idset has, without making them. */
export function countIdset(text: string): number {
  if (text === '') return 0;
  let count = 0;
  for (const part of text.split(',')) {
    const dash = part.indexOf('-');
    count += dash < 0 ? 1 : Number(part.slice(dash + 1)) - Number(part.slice(0, dash)) + 1;
  }
  return count;
}

/** The shortest idset of these numbers, in any order; doubles count once. */
export function formatIdset(ids: Iterable<number>): string {
  const sorted = ascending([...ids]);
  const ranges: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    ranges.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return ranges.join(',');
}

/** Without doubles; most sets are that way already. */
function ascending(ids: number[]): number[] {
  for (let i = 1; i < ids.length; i++)
    if (ids[i]! <= ids[i - 1]!) return [...new Set(ids)].sort((a, b) => a - b);
  return ids;
}

function malformed(text: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_IDSET', 'not an RFC 22 idset', {
    value: text,
    remedy: 'write ascending numbers and ranges, e.g. "0-3,7"',
  });
}
