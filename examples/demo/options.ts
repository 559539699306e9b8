/** What `npm start` is told. */
import { Command, InvalidArgumentError, Option } from 'commander';

export interface DemoOptions {
  /** Nodes of the local control plane. */
  readonly nodes: number;
  /** Workloads that can run: a wide one, a plain pod, the others small. One more can never fit. */
  readonly jobs: number;
  /** The last line on stdout is JSON, and no live table is drawn. */
  readonly json: boolean;
  /** Leaves everything running until Ctrl-C. */
  readonly keep: boolean;
  /** A context of the kubeconfig instead of a local control plane. */
  readonly context?: string;
  /** Writes the live table's frames to this file as an animated SVG. */
  readonly record?: string;
  /** With a context: don't ask. */
  readonly yes: boolean;
  /** The engine alone with a simulated clock, even where a control plane could be had. */
  readonly simulate: boolean;
}

export function parseOptions(argv: readonly string[]): DemoOptions {
  return new Command('npm start --')
    .description('The whole system at work: control plane, Postgres, stack, roles, workloads.')
    .option('--nodes <n>', 'nodes of the local control plane', count(2, 5000), 20)
    .option('--jobs <n>', 'workloads that can run', count(3, 100_000), 80)
    .option('--json', 'end with one line of JSON', false)
    .option('--keep', 'leave it running until Ctrl-C and say how to reach it', false)
    .addOption(
      new Option('--record <file>', 'write the live table of the local run as an animated SVG').conflicts([
        'context',
        'simulate',
      ]),
    )
    .option('--context <name>', 'use this context of your kubeconfig instead of a local control plane')
    .option('--yes', 'with --context: apply without asking', false)
    .option('--simulate', 'the engine alone, with a simulated clock and cluster', false)
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
