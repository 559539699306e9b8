/** Idsets (RFC 22): sets of unit numbers as text, e.g. `0-3,7`. */
import { FluxqError } from '../errors';

const RANGE = /^(\d+)(?:-(\d+))?$/;

/**
 * The numbers of an idset in ascending order. Brackets around it are allowed; an empty text is the empty set.
 * @throws FluxqError FLUXQ_FLUXION_IDSET
 */
export function parseIdset(text: string): number[] {
  const ids: number[] = [];
  for (const [from, to] of parseRanges(text)) for (let id = from; id < to; id++) ids.push(id);
  return ids;
}

/** A first number and the number after the last. */
export type IdRange = readonly [from: number, to: number];

/**
 * The ranges of an idset in ascending order: [0, 4] is `0-3`.
 * @throws FluxqError FLUXQ_FLUXION_IDSET
 */
export function parseRanges(text: string): IdRange[] {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (bare === '') return [];
  let end = 0;
  return bare.split(',').map((part) => {
    const [, first, last] = RANGE.exec(part) ?? [];
    const from = Number(first);
    const to = last === undefined ? from : Number(last);
    // RFC 22 requires ascending ranges that do not overlap, so each set has one text.
    if (!(from <= to) || from < end) throw malformed(text);
    end = to + 1;
    return [from, end];
  });
}

/** The shortest idset of ranges that do not overlap, given in any order. */
export function formatRanges(ranges: readonly IdRange[]): string {
  const joined: [number, number][] = [];
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last?.[1] === from) last[1] = to;
    else joined.push([from, to]);
  }
  return joined.map(([from, to]) => (to === from + 1 ? `${from}` : `${from}-${to - 1}`)).join(',');
}

/** Size of an idset, without expanding it. */
export function countIdset(text: string): number {
  if (text === '') return 0;
  let count = 0;
  for (const part of text.split(',')) {
    const dash = part.indexOf('-');
    count += dash < 0 ? 1 : Number(part.slice(dash + 1)) - Number(part.slice(0, dash)) + 1;
  }
  return count;
}

/** The shortest idset of these numbers, given in any order; duplicates count once. */
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

/** Sorts and removes duplicates, if necessary: most sets are sorted already. */
function ascending(ids: number[]): number[] {
  for (let i = 1; i < ids.length; i++)
    if (ids[i]! <= ids[i - 1]!) return [...new Set(ids)].sort((a, b) => a - b);
  return ids;
}

function malformed(text: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_IDSET', 'is not an idset (RFC 22)', {
    value: text,
    remedy: 'write ascending numbers and ranges, e.g. "0-3,7"',
  });
}
