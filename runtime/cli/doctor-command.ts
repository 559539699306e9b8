/** The command `doctor`, which an administrator runs with the own kubeconfig. */
import { type Command, Option } from 'commander';
import { STACK_NAMESPACE } from '../../constructs/api/labels';
import { version } from '../../package.json';
import { ClusterReader } from './doctor/cluster-reader';
import { examine } from './doctor/doctor';
import { requireHealthy, tableLines } from './doctor/report';
import { withClient } from './with-client';

interface Options {
  readonly namespace: string;
  readonly context?: string;
  readonly output: 'table' | 'json';
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('examine the stack through the apiserver, and say what to do about each finding')
    .option('-n, --namespace <name>', 'namespace of the stack', STACK_NAMESPACE)
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['table', 'json']).default('table'),
    )
    .action(printFindings);
}

async function printFindings({ namespace, context, output }: Options): Promise<void> {
  const options = { userAgent: 'fluxqueue-doctor', ...(context !== undefined && { context }) };
  const findings = await withClient(options, (client) =>
    examine({ reader: new ClusterReader(client, namespace), namespace, version, now: Date.now() }),
  );
  const lines = output === 'json' ? [JSON.stringify({ findings }, null, 2)] : tableLines(findings);
  for (const line of lines) process.stdout.write(`${line}\n`);
  requireHealthy(findings);
}
