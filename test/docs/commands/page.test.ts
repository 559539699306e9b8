/** docs/cli.md against the program, without running it; test/stack/documented-commands.test.ts runs it. */
import { Argument } from 'commander';
import { ENTRIES } from './entries';
import { commandsOfProgram, page, printedIn, writtenPage } from './page';

test('every command has an entry: lines that show it, or why there are none', () => {
  const documented = ENTRIES.map(({ command }) => command);
  expect(new Set(documented).size).toBe(documented.length);
  expect([...documented].sort()).toEqual(
    commandsOfProgram()
      .map((command) => command.name())
      .sort(),
  );
  for (const entry of ENTRIES)
    expect('runs' in entry ? entry.runs.length : entry.notRunBecause.length).toBeGreaterThan(0);
});

test('docs/cli.md has the commands, arguments and options of the program (npm run -s generate:cli)', () => {
  expect(writtenPage()).toBe(page(printedIn(writtenPage())));
});

test('an entry without its command, and a line that was not run, are refused', () => {
  const printed = printedIn(writtenPage());
  expect(() => page(printed, [])).toThrow('the program has no command queue');
  expect(() => page(printed.slice(1))).toThrow('"kubectl fluxqueue queue" was not run, but "');
  expect(() => page(printed.slice(0, -1))).toThrow('was not run, but "nothing"');
});

test('a new argument or option changes the page', () => {
  const printed = printedIn(writtenPage());
  const changed = commandsOfProgram();
  const cancel = changed.find((command) => command.name() === 'cancel')!;
  cancel.addArgument(new Argument('[modes...]', 'how').choices(['now', 'later']));
  cancel.requiredOption('--by <keys>', 'at | once', ['queue', 'user']);
  const text = page(printed, changed);
  expect(text).toContain('| [`cancel WORKLOAD [MODES...]`](#cancel) | delete a workload |');
  expect(text).toContain('| `MODES...` | how; one of now, later |');
  expect(text).toContain('| `--by <keys>` | at \\| once; required; default: `queue,user` |');
});
