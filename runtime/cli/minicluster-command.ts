/** The command `mc`, which users run with their own kubeconfig, also as `kubectl fluxqueue mc`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { type MiniCluster, miniClusters } from '../miniclusters/resource';
import { jobsCommand, miniClusterLines } from './minicluster';
import { inNamespace, type Scope } from './with-client';

interface Options extends Pick<Scope, 'namespace'> {
  readonly jobs: boolean;
}

export function addMiniClusterCommand(program: Command): void {
  program
    .command('mc')
    .description(
      'print the jobs and resources inside a MiniCluster, which its status has with spec.flux.report',
    )
    .argument('<name>', 'name of the MiniCluster')
    .option('-n, --namespace <name>', 'namespace of the MiniCluster (default: that of the kubeconfig)')
    .option('--jobs', 'list the single jobs too (flux jobs -a), by kubectl exec with your own rights', false)
    .action(printMiniCluster);
}

async function printMiniCluster(name: string, { jobs, ...scope }: Options): Promise<void> {
  const cluster = await inNamespace(scope, (client, namespace) =>
    client.get<MiniCluster>(miniClusters(namespace, name)),
  );
  for (const line of miniClusterLines(cluster)) process.stdout.write(`${line}\n`);
  if (!jobs) return;
  const [code] = (await once(spawn('kubectl', jobsCommand(cluster), { stdio: 'inherit' }), 'exit')) as [
    number | null,
  ];
  if (code !== 0) throw new Error(`kubectl exec ended with code ${code}`);
}
