/**
 * What can follow the words of a command line, for shells and for kubectl's completion of plugins. The commands
 * themselves are asked for their options and arguments. No I/O but by `lookUp`.
 */
import type { Argument, Command, Option } from 'commander';

/** Names that the cluster or the kubeconfig has. */
export type Lookup = 'workloads' | 'nodes' | 'queues' | 'namespaces' | 'contexts';

export interface Asked {
  readonly command: string;
  /** Values of the options that are given: those of the scope are used. */
  readonly options: Readonly<Record<string, string>>;
}

/** Never rejects: what cannot be looked up has no names. */
export type LookUp = (what: Lookup, asked: Asked) => Promise<readonly Candidate[]>;

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Whether it is the name of a file. */
  readonly files: boolean;
}

const BY_OPTION: Readonly<Record<string, Lookup>> = {
  namespace: 'namespaces',
  context: 'contexts',
  queue: 'queues',
};
const BY_ARGUMENT: Readonly<Record<string, Lookup>> = {
  workload: 'workloads',
  workloads: 'workloads',
  node: 'nodes',
  nodes: 'nodes',
};
const FILES: ReadonlySet<string> = new Set(['file', 'path']);

/** @param words behind the name of the program; the last one is completed and may be empty */
export async function complete(
  program: Command,
  words: readonly string[],
  lookUp: LookUp,
): Promise<Completion> {
  const whole = joined(words);
  const partial = whole.at(-1) ?? '';
  const [name, ...given] = whole.slice(0, -1);
  const command = program.commands.find((each) => each.name() === name);
  if (name === undefined) return found(commandsOf(program, partial), partial);
  if (command === undefined) return NOTHING;
  return completeIn(command, given, partial, lookUp);
}

const NOTHING: Completion = { candidates: [], files: false };

/** Bash gives `--queue=x` as three words. */
function joined(words: readonly string[]): string[] {
  const isSign = (i: number) => words[i] === '=' && words[i - 1]?.startsWith('--') === true;
  return words.flatMap((word, i) => (isSign(i) ? (i === words.length - 1 ? [''] : []) : [word]));
}

async function completeIn(
  command: Command,
  given: readonly string[],
  partial: string,
  lookUp: LookUp,
): Promise<Completion> {
  const { operands, options, open } = parse(command, given);
  const asked = { command: command.name(), options };
  if (open !== undefined) return valuesOf(open, partial, (what) => lookUp(what, asked));
  const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(partial) ?? [];
  const assigned = command.options.find((option) => flag !== undefined && isFlag(option, flag));
  if (assigned !== undefined) return valuesOf(assigned, value!, (what) => lookUp(what, asked));
  if (partial.startsWith('-')) return found(optionsOf(command, given), partial);
  const argument = argumentAt(command, operands.length);
  if (argument === undefined) return NOTHING;
  // The commands of administrators run in the controller.
  const isOfUsers = command.options.some((option) => isFlag(option, '--context'));
  const { candidates, files } = await valuesOf(argument, partial, async (what) =>
    isOfUsers ? lookUp(what, asked) : [],
  );
  return { files, candidates: candidates.filter(({ value }) => !operands.includes(value)) };
}

interface Parsed {
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value comes next. */
  readonly open: Option | undefined;
}

function parse(command: Command, given: readonly string[]): Parsed {
  const operands: string[] = [];
  const options: Record<string, string> = {};
  let open: Option | undefined;
  for (const word of given) {
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/.exec(word) ?? [];
    const option = command.options.find((each) => isFlag(each, flag));
    if (open !== undefined) {
      options[open.attributeName()] = word;
      open = undefined;
    } else if (option === undefined) operands.push(word);
    else if (value !== undefined) options[option.attributeName()] = value;
    else if (option.required || option.optional) open = option;
  }
  return { operands, options, open };
}

function isFlag({ short, long }: Option, flag: string): boolean {
  return flag === short || flag === long;
}

function argumentAt({ registeredArguments }: Command, at: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[at] ?? (last?.variadic === true ? last : undefined);
}

async function valuesOf(
  asked: Option | Argument,
  partial: string,
  lookUp: (what: Lookup) => Promise<readonly Candidate[]>,
): Promise<Completion> {
  if (asked.argChoices !== undefined)
    return found(
      asked.argChoices.map((value) => ({ value })),
      partial,
    );
  const what = 'attributeName' in asked ? BY_OPTION[asked.attributeName()] : BY_ARGUMENT[asked.name()];
  if (what !== undefined) return found(await lookUp(what), partial);
  const placeholder = 'flags' in asked ? /<(.+)>/.exec(asked.flags)?.[1] : asked.name();
  return { candidates: [], files: FILES.has(placeholder ?? '') };
}

function commandsOf(program: Command, partial: string): Candidate[] {
  if (partial.startsWith('-')) return optionsOf(program, []);
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ value: command.name(), description: command.description() }));
}

function optionsOf(command: Command, given: readonly string[]): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => !given.some((word) => isFlag(option, word.split('=')[0]!)))
    .map((option) => ({ value: option.long ?? option.flags, description: option.description }));
}

function found(candidates: readonly Candidate[], partial: string): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(partial)), files: false };
}

/** As Cobra prints completions, which kubectl expects of its plugins: 4 means that files are none, 0 that they are. */
export function completionLines({ candidates, files }: Completion): string[] {
  return [
    ...candidates.map(({ value, description }) =>
      description === undefined || description === '' ? value : `${value}\t${description.split('\n')[0]}`,
    ),
    files ? ':0' : ':4',
  ];
}
