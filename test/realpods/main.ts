/**
 * Runs the stack in real pods: `npm run -s realpods -- --json`. Applies it to a control plane with real nodes, runs Jobs,
 * kills and deletes its pods, removes it, and prints figures. The exit code is 1 if a run has problems.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../../runtime/errors';
import { combinations, prepare } from './combinations';
import { realPodsAvailable } from './requirements';
import { type Combination, type Figures, runScenario } from './scenario';

interface Options {
  readonly admission?: Combination['admission'];
  readonly fluxion?: Combination['fluxion'];
  readonly nodes: number;
  readonly reduced: boolean;
  readonly json: boolean;
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

function parseOptions(): Options {
  return new Command('npm run -s realpods --')
    .addOption(new Option('--admission <form>', 'only this admission form').choices(['webhook', 'policies']))
    .addOption(
      new Option('--fluxion <where>', 'only this form of Fluxion').choices([
        'embedded',
        'sidecar',
        'library',
      ]),
    )
    .option('--nodes <n>', 'number of real nodes', parseNodes, 3)
    .option('--reduced', 'apply, Jobs, a handover, deletion of all pods, removal', false)
    .option('--json', 'print one line of JSON on stdout', false)
    .parse()
    .opts<Options>();
}

function parseNodes(text: string): number {
  const nodes = Number(text);
  // One node has the database and another one is drained.
  if (Number.isInteger(nodes) && nodes >= 2 && nodes <= 20) return nodes;
  throw new InvalidArgumentError('must be a whole number from 2 to 20.');
}

async function main(): Promise<void> {
  const options = parseOptions();
  const possible = realPodsAvailable();
  if (!possible.available) {
    say(`skipped: ${possible.reason}`);
    return;
  }
  const results: Figures[] = [];
  for (const combination of combinations(options, say)) {
    const { nodes, reduced } = options;
    results.push(await runScenario({ ...(await prepare(combination, say)), nodes, reduced, progress: say }));
  }
  report(results, options.json);
  if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
}

function report(results: readonly Figures[], json: boolean): void {
  for (const { admission, fluxion, problems } of results) {
    for (const problem of problems) say(`${admission}, ${fluxion}: PROBLEM: ${problem}`);
  }
  const shown = results.map((figures) => ({ ...figures, problems: figures.problems.length }));
  if (json) process.stdout.write(`${JSON.stringify(shown.length === 1 ? shown[0] : shown)}\n`);
  else for (const row of shown) process.stdout.write(`${JSON.stringify(row, null, 2)}\n`);
}

main().catch((error: unknown) => {
  say(messageOf(error));
  process.exitCode = 1;
});
