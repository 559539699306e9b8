/** One thing that is wrong with a resource. */
export interface Problem {
  /** Where, from `spec` or `metadata`. */
  readonly path: string;
  /** What is wrong with it. */
  readonly what: string;
  /** What was given. */
  readonly value: unknown;
  /** One imperative sentence without the full stop. */
  readonly remedy: string;
  /** A required field is not there, or one has another type than its own: what depends on it can't be judged. */
  readonly unreadable?: true;
}

/** The problem as one line for people. */
export function problemLine({ path, what, value, remedy }: Problem): string {
  const shown =
    value === undefined ? '' : ` (got ${shortened(JSON.stringify(value, firstLine) ?? String(value))})`;
  return `${path}: ${what}${shown}; ${remedy}`;
}

/** Scripts are long, and certificates, also one in the wrong place, are nobody's to read. */
function firstLine(_: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const end = value.trimEnd().indexOf('\n');
  return end === -1 ? value : `${value.slice(0, end)}…`;
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
