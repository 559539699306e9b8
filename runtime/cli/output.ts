/** What commands on the read API print: tables, or the whole answer for programs. */
import { Option } from 'commander';
import { stringify } from 'yaml';
import { columns, plain } from '../columns';

export type ObjectFormat = 'json' | 'yaml';

/** The option `-o` of a command that has these formats; the first one is the default. */
export function outputOption(formats: readonly string[]): Option {
  return new Option('-o, --output <format>', 'what to print').choices(formats).default(formats[0]);
}

export function isObjectFormat(format: string): format is ObjectFormat {
  return format === 'json' || format === 'yaml';
}

export function objectText(object: object, format: ObjectFormat): string {
  return format === 'json' ? JSON.stringify(object, null, 2) : stringify(object).trimEnd();
}

/** Lines of a table. Names and messages in it come from others, so they cannot move the cursor. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  return columns(rows.map((row) => row.map(plain)));
}

export function printLines(
  lines: readonly string[],
  output: Pick<NodeJS.WriteStream, 'write'> = process.stdout,
) {
  output.write(lines.map((line) => `${line}\n`).join(''));
}

/** `1 node`, `1,204 jobs`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
