/** Quotes text for POSIX shells, so that they take it literally. */

/** Ends the last line of a text if it is not ended. */
export function withFinalNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Words of characters that have no meaning to any shell. */
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Quotes a text as one word. */
export function quote(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes texts as words with spaces between them. */
export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

/** Splits a line of options, as a user writes it, into words; quotes are removed. */
export function splitWords(text: string): string[] {
  const words = text.matchAll(/(?:[^\s'"\\]+|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/g);
  return [...words].map(([word]) => unquote(word));
}

function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs,
    (_, single, double, escaped) => single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped,
  );
}

/** Lines of such words. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./ \t-]+$/;
/** `NAME=value program` is shell syntax too. */
const ASSIGNMENT = /^[^ \t]*=/;
const SPACE = /[ \t]+/g;

/**
 * Returns a command line as shell source. Plain words stay as they are; a line with shell syntax becomes the argument
 * of a shell that runs where the command runs.
 */
export function commandWords(command: string): string {
  const line = command.trim();
  if (PLAIN.test(line) && !ASSIGNMENT.test(line)) return line.replaceAll(SPACE, ' ');
  return `"$shell" -c ${quote(line)}`;
}

/** Returns shell assignments of the values that are not empty, in their order. */
export function assignments(values: Readonly<Record<string, string>>): string {
  const lines: string[] = [];
  for (const name in values) if (values[name] !== '') lines.push(`${name}=${quote(values[name]!)}\n`);
  return lines.join('');
}
