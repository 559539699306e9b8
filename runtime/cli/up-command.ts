/** The command `up`: a local cluster to try manifests on. What it starts is loaded for this command only. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { FluxqError } from '../errors';
import { requireRolesNode } from '../node-version';

export interface UpOptions {
  /** Number of simulated nodes. */
  readonly nodes: number;
  /** Whether the workloads of the demo are submitted and shown first. */
  readonly demo: boolean;
  /** Number of workloads of the demo. */
  readonly jobs: number;
}

interface LocalCluster {
  up(options: UpOptions): Promise<void>;
}

/** In the package it is a bundle beside the program, in its repository a source file. */
const FILES = [join(__dirname, 'examples/demo/up.js'), join(__dirname, '../../examples/demo/up.ts')];

export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description('start a local cluster with the queue and simulated nodes, until Ctrl-C')
    .option('--nodes <n>', 'number of simulated nodes', count(2, 5_000), 20)
    .option('--demo', 'submit the workloads of the demo first, and show how they run', false)
    .option('--jobs <n>', 'with --demo: number of its workloads', count(3, 100_000), 80)
    .action(startLocalCluster);
}

function count(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}

async function startLocalCluster(options: UpOptions): Promise<void> {
  requireRolesNode('a local cluster', 'run it with');
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new FluxqError('FLUXQ_UP_PLATFORM', 'a local cluster does not run on this operating system', {
      value: process.platform,
      remedy: 'use Linux, macOS or WSL, or apply the stack to a cluster of yours',
    });
  }
  const file = FILES.find((each) => existsSync(each));
  if (file === undefined) {
    throw new FluxqError('FLUXQ_UP_MISSING', 'this installation has no local cluster in it', {
      value: __dirname,
      remedy: 'run npx cdk8s-fluxqueue up',
    });
  }
  const local = createRequire(__filename)(file) as LocalCluster;
  await local.up(options);
}
