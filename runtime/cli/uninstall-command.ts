/** The command `uninstall`, which an administrator runs with the own kubeconfig. */
import type { Command } from 'commander';
import { STACK_NAMESPACE } from '../../constructs/api/labels';
import { uninstall } from './uninstall';
import { withClient } from './with-client';

interface Options {
  readonly namespace: string;
  readonly release: boolean;
  readonly deleteData: boolean;
}

export function addUninstallCommand(program: Command): void {
  program
    .command('uninstall')
    .description('take the stack out of the cluster; no workload stays held')
    .option('--namespace <name>', 'namespace of the stack', STACK_NAMESPACE)
    .option('--release', 'start the workloads that wait; without it, nothing is done while one waits', false)
    .option(
      '--delete-data',
      'delete also the database, the CRDs with all their objects, and the namespace',
      false,
    )
    .action((options: Options) =>
      withClient({ userAgent: 'fluxqueue-uninstall' }, (client) =>
        uninstall({ client, ...options, print: (line) => process.stdout.write(`${line}\n`) }),
      ),
    );
}
