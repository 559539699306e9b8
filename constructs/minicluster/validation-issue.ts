import { shownAs } from '../api/errors';

/** One mistake in a MiniCluster. */
export interface ValidationIssue {
  /** Path of the field, from `spec` or `metadata`; in errors of the construct, path of the prop. */
  readonly path: string;
  /** What is wrong with the value, as a predicate: `must be at least 1`. */
  readonly message: string;
  /** The value that is wrong; undefined if it is missing. */
  readonly value: unknown;
  /** What to do, as one imperative sentence without a full stop. */
  readonly remedy: string;
  /** The remedy in terms of the construct's props. @default - `remedy` */
  readonly propRemedy?: string;
  /** Set if a field is missing or has the wrong type, so that rules which read it cannot be checked. */
  readonly unreadable?: true;
}

/** Formats an issue as one line for people. */
export function formatIssue({ path, message, value, remedy }: ValidationIssue): string {
  const shown = value === undefined ? '' : ` (got ${shorten(shownAs(value, firstLine))})`;
  return `${path}: ${message}${shown}; ${remedy}`;
}

/** Scripts are long, and a certificate, even one in the wrong field, must not be printed. */
function firstLine(text: string): string {
  const end = text.trimEnd().indexOf('\n');
  return end === -1 ? text : `${text.slice(0, end)}…`;
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
