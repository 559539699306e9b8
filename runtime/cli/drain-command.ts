/** The command `drain`, for administrators: a node is emptied without ending a workload. */
import type { Command } from 'commander';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { nodes, pods } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { drainPicture, nextSentence } from './drain';
import { show } from './show';
import { requireInstalled } from './unknown-workload';
import { FIELD_MANAGER, inCluster, type Scope } from './with-client';

interface DrainOptions extends Pick<Scope, 'context'> {
  readonly afterJobs: boolean;
}

export function addDrainCommand(program: Command): void {
  program
    .command('drain')
    .description('cordon a node, so that nothing starts on it any more, and say what of the queue is on it')
    .argument('<node>', 'name of the node')
    .option('--after-jobs', 'wait until all of them have ended', false)
    .option('--context <name>', 'context of the kubeconfig')
    .action(drain);
}

async function drain(node: string, { afterJobs, ...scope }: DrainOptions): Promise<void> {
  await inCluster(scope, async (client) => {
    await requireInstalled(client);
    await client.patch(nodes(node), { spec: { unschedulable: true } }, 'merge', {
      fieldManager: FIELD_MANAGER,
    });
    write(`node/${node} cordoned`);
    let onNode: readonly Pod[] = [];
    const isEmpty = await show<{ readonly fluxJobs: FluxJobObject; readonly pods: Pod }>(
      client,
      {
        fluxJobs: { path: fluxJobs() },
        pods: { path: pods(), fieldSelector: `spec.nodeName=${node}` },
      },
      (objects) => {
        onNode = objects.pods;
        return drainPicture(node, objects.fluxJobs, onNode);
      },
      { watch: afterJobs },
    );
    write(nextSentence(node, onNode, isEmpty));
  });
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
