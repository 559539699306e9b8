/** Lines of a table: columns as wide as their longest cell, two spaces between them; and texts that are cut, joined or made harmless. */

/** @param align of the cells behind the first column. @default 'left' */
export function columns(rows: readonly (readonly string[])[], align: 'left' | 'right' = 'left'): string[] {
  const widths = (rows[0] ?? []).map((_, i) => largest(rows.map((row) => row[i]!.length)));
  const padded = (cell: string, i: number) =>
    align === 'right' && i > 0 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!);
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}

/** The largest of any count of numbers: a function takes fewer arguments than a table may have rows. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), -Infinity);
}

/** A text that goes on beyond so many characters says so. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;
}

/** The text in lines of at most so many characters, broken between words. A longer word has a line of its own. */
export function folded(text: string, most: number): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** `a, b and c`; empty without parts. */
export function joined(parts: readonly string[], word = 'and'): string {
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}` : (parts[0] ?? '');
}

/** The text as a part of one line. What others have written cannot move the cursor of a terminal, nor look like a line of its own. */
export function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** The same for a text that may have several lines. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}
