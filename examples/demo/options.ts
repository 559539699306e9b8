/** The options of `npm start`. */
import { Command, InvalidArgumentError, Option } from 'commander';

export interface DemoOptions {
  /** Number of nodes of the local control plane. */
  readonly nodes: number;
  /** Number of workloads that can run: a wide Job, a plain pod, and small Jobs. One more is unsatisfiable. */
  readonly jobs: number;
  /** Prints one line of JSON on stdout at the end, and no live table. */
  readonly json: boolean;
  /** Keeps everything running until Ctrl-C. */
  readonly keep: boolean;
  /** A context of the kubeconfig instead of a local control plane. */
  readonly context?: string;
  /** Writes the frames of the live table to this file as an animated SVG. */
  readonly record?: string;
  /** With a context: applies without confirmation. */
  readonly yes: boolean;
  /** Runs the scheduler alone with a simulated clock, even if a control plane is available. */
  readonly simulate: boolean;
}

export function parseOptions(argv: readonly string[]): DemoOptions {
  return new Command('npm start --')
    .description('Shows the whole system: control plane, Postgres, stack, roles, workloads.')
    .option('--nodes <n>', 'number of nodes of the local control plane', count(2, 5000), 20)
    .option('--jobs <n>', 'number of workloads that can run', count(3, 100_000), 80)
    .option('--json', 'print one line of JSON at the end', false)
    .addOption(
      new Option('--keep', 'keep everything running until Ctrl-C and print how to access it')
        .default(false)
        .conflicts('simulate'),
    )
    .addOption(
      new Option('--record <file>', 'write the live table of the local run as an animated SVG').conflicts([
        'context',
        'simulate',
      ]),
    )
    .option('--context <name>', 'use this context of your kubeconfig instead of a local control plane')
    .option('--yes', 'with --context: apply without confirmation', false)
    .option('--simulate', 'run the scheduler alone, with a simulated clock and cluster', false)
    .parse(argv)
    .opts<DemoOptions>();
}

function count(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}
