/** The commands to try at the end of the demo. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Screen } from './screen';

const ROOT = join(__dirname, '..', '..');

/** For a cluster that keeps running. */
export interface KeptCluster {
  readonly namespace: string;
  /** The beginning of each command of the plugin. */
  readonly plugin: string;
  /** @default - that of the kubeconfig */
  readonly context?: string;
}

/** When nothing is left to ask. */
export function nextRuns(): readonly string[] {
  return [
    'npm start -- --keep',
    'npm start -- --nodes 10 --jobs 120',
    'npm start -- --simulate --nodes 6 --jobs 30',
  ];
}

/** About workloads of the demo, which exist and whose state does not change. */
export function nextCommands({ namespace, plugin, context }: KeptCluster): readonly string[] {
  const where = `-n ${namespace}${context === undefined ? '' : ` --context ${context}`}`;
  return [
    `${plugin} queue --all ${where}`,
    `${plugin} why impossible ${where}`,
    // Another cluster may not have the read API.
    `${plugin} ${context === undefined ? 'history' : 'when'} wide ${where}`,
  ];
}

/** The plugin without an installation. */
export const PLUGIN_SCRIPT = `node ${join(ROOT, 'bin', 'fluxqueue.js')}`;

/** Puts kubectl and its plugin into a folder for PATH. */
export function installPlugin(folder: string, kubectl: string): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(kubectl, join(folder, 'kubectl'));
  const plugin = join(folder, 'kubectl-fluxqueue');
  writeFileSync(
    plugin,
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin', 'fluxqueue.js')}' "$@"\n`,
  );
  chmodSync(plugin, 0o755);
}

export function printCommands(screen: Screen, heading: string, commands: readonly string[]): void {
  screen.print(`\n${heading}`);
  for (const command of commands) screen.print(`  ${command}`);
}
