/** Text for the shell: what is quoted here means itself, whatever is in it. */

/** With the end of its last line. */
export function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Characters that mean themselves in every shell. */
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One word of POSIX shell. */
export function quote(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

/** The words of options that a user wrote in one line; quotes hold words together. */
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

/** The same, and what is between words. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./ \t-]+$/;
/** `NAME=value program` is syntax too. */
const ASSIGNMENT = /^[^ \t]*=/;
const SPACE = /[ \t]+/g;

/**
 * A command line as shell source for its words: plain words as they are, anything with
 * shell syntax as one argument of a shell, which runs where the command does.
 */
export function commandWords(command: string): string {
  const line = command.trim();
  if (PLAIN.test(line) && !ASSIGNMENT.test(line)) return line.replaceAll(SPACE, ' ');
  return `"$shell" -c ${quote(line)}`;
}

/** Shell assignments, in the order given, of the values that are not empty. */
export function assignments(values: Readonly<Record<string, string>>): string {
  const lines: string[] = [];
  for (const name in values) if (values[name] !== '') lines.push(`${name}=${quote(values[name]!)}\n`);
  return lines.join('');
}
