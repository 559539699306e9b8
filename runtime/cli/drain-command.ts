/** The command `drain`, for administrators: a node is emptied without ending a workload. */
import type { Command } from 'commander';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { nodes, pods } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { drainPicture } from './drain';
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
    const isEmpty = await show<{ readonly fluxJobs: FluxJobObject; readonly pods: Pod }>(
      client,
      {
        fluxJobs: { path: fluxJobs() },
        pods: { path: pods(), fieldSelector: `spec.nodeName=${node}` },
      },
      (objects) => drainPicture(node, objects.fluxJobs, objects.pods),
      { watch: afterJobs },
    );
    write(isEmpty ? emptySentence(node) : fullSentence(node));
  });
}

function emptySentence(node: string): string {
  return `next: kubectl drain ${node} --ignore-daemonsets for what is not of the queue; after the work: kubectl uncordon ${node}`;
}

function fullSentence(node: string): string {
  return `next: kubectl fluxqueue drain ${node} --after-jobs waits for them; kubectl drain ${node} --ignore-daemonsets ends them now`;
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
