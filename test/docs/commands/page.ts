/** The text of docs/cli.md, from the program, the entries, and what their lines print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Argument, Command, type Option } from 'commander';
import { addCommands } from '../../../runtime/cli/commands';
import { type Entry, GROUPS, type Group, runOf } from './entries';

export const PAGE_FILE = join(__dirname, '../../../docs/cli.md');

/** What a line of a shell printed; exactly the lines of the entries, in their order. */
export interface Printed {
  readonly line: string;
  readonly output: string;
}

/** The commands that the program's help lists, without its roles. */
export function commandsOfProgram(): readonly Command[] {
  const program = new Command('fluxqueue').helpCommand(false);
  addCommands(program);
  return program.createHelp().visibleCommands(program);
}

/** @param printed in the order of the entries */
export function page(printed: readonly Printed[], commands = commandsOfProgram()): string {
  const left = [...printed];
  const groups = GROUPS.map((group) => section(group, commands, left));
  return `# Commands

\`npm run -s generate:cli\` writes this page: options come from the program, and every line below was run, in this order, on a real control plane with
20 simulated nodes of 16 cores, as \`npm start\` has them. Times are shown as if all of it had happened on 23 November 2026 at 9 o'clock, and rounded to ten
minutes, as ages are; hours are rounded to hundreds. A test runs the lines again and compares.

\`kubectl fluxqueue COMMAND\` and \`npx fluxqueue COMMAND\` are one program, in the package \`cdk8s-fluxqueue\`. Exit code 0: done; 1: one sentence on
stderr says what is wrong ([errors.md](errors.md)); 130 and 143: Ctrl-C or SIGTERM ended a watch before what it waited for.

| command | what it does |
| --- | --- |
${GROUPS.flatMap(({ entries }) => entries.map((entry) => row(entry, commands))).join('\n')}

The queue of this page: the Job \`train\` runs on 17 of the nodes, the Job \`fit\` on one, and the MiniCluster \`hello\` on two. \`examples/jobs/wide.yaml\` wants 8 cores for
each of 10 pods, \`tune\` 16 cores for each of 4, and \`examples/jobs/impossible.yaml\` 999 cores for one pod. The Job \`prepare\` has ended.

${groups.join('\n\n')}
`;
}

function section({ title, text, entries }: Group, commands: readonly Command[], left: Printed[]): string {
  const shared = sharedRows(entries.map((entry) => wordRows(commandOf(entry, commands))));
  const sections = entries.map((entry) => described(entry, commands, shared, left));
  return [`## ${title}`, text, ...wordTable('argument or option of most of them', shared), ...sections].join(
    '\n\n',
  );
}

/** Rows that most of the commands have. */
function sharedRows(commands: readonly (readonly string[])[]): readonly string[] {
  const all = [...new Set(commands.flat())];
  return all.filter((row) => commands.filter((rows) => rows.includes(row)).length > commands.length / 2);
}

function row(entry: Entry, commands: readonly Command[]): string {
  const command = commandOf(entry, commands);
  return `| [\`${usage(command)}\`](#${command.name()}) | ${cell(command.description())} |`;
}

function described(
  entry: Entry,
  commands: readonly Command[],
  shared: readonly string[],
  left: Printed[],
): string {
  const command = commandOf(entry, commands);
  const own = wordRows(command).filter((row) => !shared.includes(row));
  return [
    `### ${command.name()}`,
    `\`${usage(command)} [options]\`: ${command.description()}.`,
    ...wordTable('argument or option', own),
    ...body(entry, left),
  ].join('\n\n');
}

function body(entry: Entry, left: Printed[]): readonly string[] {
  if ('notRunBecause' in entry) return [`Not run here, because ${entry.notRunBecause}.`];
  const lines = entry.runs.map((run) => {
    const { line } = runOf(run);
    const printed = left.shift();
    if (printed?.line !== line)
      throw new Error(
        `"${line}" was not run, but "${printed?.line ?? 'nothing'}"; npm run -s generate:cli runs it`,
      );
    return `$ ${line}\n${printed.output}`;
  });
  const block = `\`\`\`console\n${lines.join('')}\`\`\``;
  return entry.text === undefined ? [block] : [entry.text, block];
}

function commandOf({ command }: Entry, commands: readonly Command[]): Command {
  const found = commands.find((each) => each.name() === command);
  if (found === undefined) throw new Error(`the program has no command ${command}; remove its entry`);
  return found;
}

function usage(command: Command): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? argumentWord(argument) : `[${argumentWord(argument)}]`,
  );
  return [command.name(), ...words].join(' ');
}

function argumentWord(argument: Argument): string {
  return `${argument.name().toUpperCase()}${argument.variadic ? '...' : ''}`;
}

/** What a user may write behind the command. */
function wordRows(command: Command): readonly string[] {
  const words = command.registeredArguments.map((argument) => [argumentWord(argument), meaning(argument)]);
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => [option.flags, meaning(option)]);
  return [...words, ...options].map(([word, text]) => `| \`${word}\` | ${cell(text!)} |`);
}

function wordTable(title: string, rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : [[`| ${title} | |`, '| --- | --- |', ...rows].join('\n')];
}

function meaning(word: Argument | Option): string {
  const { description, argChoices = [] } = word;
  const choices = argChoices.length === 0 ? [] : [`one of ${argChoices.join(', ')}`];
  const must = 'mandatory' in word && word.mandatory ? ['required'] : [];
  const value = shownDefault(word.defaultValue);
  const otherwise = value === undefined ? [] : [`default: \`${value}\``];
  return [description, ...choices, ...must, ...otherwise].join('; ');
}

/** A default that is a time differs from run to run, and those that mean "not given" say nothing. */
function shownDefault(value: unknown): string | undefined {
  if (Array.isArray(value) && value.length > 0) return value.join(',');
  if (typeof value === 'number') return `${value}`;
  return typeof value === 'string' && value !== '' && !/^\d{4}-/.test(value) ? value : undefined;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}

export function writtenPage(): string {
  return readFileSync(PAGE_FILE, 'utf8');
}

/** What the lines printed when the page was written. */
export function printedIn(text: string): readonly Printed[] {
  const blocks = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((run) => {
        const end = run.indexOf('\n');
        return { line: run.slice(0, end), output: run.slice(end + 1) };
      }),
  );
}
