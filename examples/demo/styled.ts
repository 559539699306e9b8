/** Lines of text with colours. Their width is that of the text alone, so a picture is the same with and without colours. */

interface Span {
  readonly text: string;
  /** Code of an ANSI foreground colour. @default - the terminal's own */
  readonly colour?: number | undefined;
}

export type Line = readonly Span[];

const RESET = '\u001b[0m';

export function line(text: string, colour?: number): Line {
  return [{ text, colour }];
}

export function plain(spans: Line): string {
  return spans.map(({ text }) => text).join('');
}

/** As a terminal shows it in colour. */
export function coloured(spans: Line): string {
  return spans
    .map(({ text, colour }) => (colour === undefined ? text : `\u001b[${colour}m${text}${RESET}`))
    .join('');
}

/** Neighbours of one colour as one span. */
export function merged(spans: Line): Line {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last !== undefined && last.colour === span.colour)
      all[all.length - 1] = { ...last, text: last.text + span.text };
    else all.push(span);
  }
  return all;
}

/** At most so wide; what is cut ends in `…`. */
export function cut(spans: Line, width: number): Line {
  if (widthOf(spans) <= width) return spans;
  const kept: Span[] = [];
  let left = Math.max(0, width - 1);
  for (const { text, colour } of spans) {
    kept.push({ text: text.slice(0, left), colour });
    left -= Math.min(left, text.length);
  }
  return width > 0 ? [...kept, { text: '…' }] : [];
}

/** Two pictures beside each other. */
export function beside(left: readonly Line[], right: readonly Line[], leftWidth: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const first = cut(left[i] ?? [], leftWidth);
    const second = right[i] ?? [];
    if (second.length === 0) return first;
    return [...first, { text: ' '.repeat(leftWidth - widthOf(first)) }, ...second];
  });
}

export function widthOf(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + text.length, 0);
}

/** Lines that break between words; a word that is too long is not broken. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
