/**
 * The name with the fewest edits to a name that is not a field; undefined if none is near. `nearestSetting` counts pairs of
 * letters instead, because CEL cannot count edits; pairs miss a typo in a short name and suggest a field for any word.
 */
export function nearest(key: string, names: readonly string[]): string | undefined {
  const written = key.toLowerCase();
  let best: string | undefined;
  // A third of the letters may differ.
  let most = Math.floor(written.length / 3) + 1;
  for (const name of names) {
    const edits = distance(written, name.toLowerCase());
    if (edits >= most) continue;
    most = edits;
    best = name;
  }
  return best;
}

/** Number of letters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
