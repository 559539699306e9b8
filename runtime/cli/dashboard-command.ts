/** `kubectl fluxqueue dashboard`: the queue as a page in the browser, with the rights of its user. */
import { once } from 'node:events';
import { type Command, InvalidArgumentError } from 'commander';
import { LiveView } from '../dashboard/live-view';
import { readApi } from '../dashboard/read-api';
import { serveDashboard } from '../dashboard/server';
import { createLogger } from '../observability/log';
import { inNamespace, type Scope, scoped } from './with-client';

interface Options extends Scope {
  readonly allNamespaces: boolean;
  readonly port: number;
}

export function addDashboardCommand(program: Command): void {
  scoped(program.command('dashboard'))
    .description('show queue, nodes and timeline as a page in the browser, until Ctrl-C')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', portNumber, 0)
    .action(showDashboard);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('must be a whole number from 0 to 65535.');
}

async function showDashboard({ allNamespaces, port, ...given }: Options): Promise<void> {
  await inNamespace(given, async (client, namespace) => {
    const logger = createLogger('dashboard', 'warn');
    const scope = allNamespaces ? undefined : namespace;
    const view = new LiveView({ client, logger, ...(scope === undefined ? {} : { namespace: scope }) });
    try {
      await view.start();
      const server = await serveDashboard({ port, view, answers: readApi(client, scope) });
      process.stdout.write(`${server.url}\nCtrl-C ends it\n`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await server.stop();
    } finally {
      view.stop();
    }
  });
}
