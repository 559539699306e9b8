/** The commands `nodes` and `graph`, on the read API. Nodes have no namespace, so they need rights in the whole cluster. */
import type { Command } from 'commander';
import { ask, nodeReports, resourceGraphs } from '../kubernetes/read-api';
import type { NodeReportList, ResourceGraph } from '../reader/kinds';
import { graphLines } from './graph-tree';
import { chosenNodes, nodeLines } from './node-table';
import { isObjectFormat, objectText, outputOption, printLines } from './output';
import { repeat } from './repeat';
import { inCluster, type Scope } from './with-client';

interface NodesOptions extends Pick<Scope, 'context'> {
  readonly output: 'table' | 'wide' | 'name' | 'json' | 'yaml';
  readonly watch: boolean;
}

interface GraphOptions extends Pick<Scope, 'context'> {
  readonly all: boolean;
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
}

/** The one graph: that of the leader's Fluxion. */
const GRAPH = 'fluxion';

export function addNodesCommands(program: Command): void {
  program
    .command('nodes')
    .description('print what of each node is free, used, reserved, and used by pods outside the queue')
    .argument('[nodes...]', 'only these: names, or hostlists such as node-[0-9]')
    .addOption(outputOption(['table', 'wide', 'name', 'json', 'yaml']))
    .option('-w, --watch', 'ask again every 5 seconds, until Ctrl-C', false)
    .option('--context <name>', 'context of the kubeconfig')
    .action(printNodes);
  program
    .command('graph')
    .description('print the resource graph of Fluxion as a tree, with free and total units')
    .option('--all', 'a line for each node; without it, equal nodes share one', false)
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .option('--context <name>', 'context of the kubeconfig')
    .action(printGraph);
}

async function printNodes(
  texts: readonly string[],
  { output, watch, ...scope }: NodesOptions,
): Promise<void> {
  await inCluster(scope, (client) =>
    repeat(
      async () => {
        const question = { verb: 'list', path: nodeReports(), scope: 'the whole cluster' } as const;
        return chosenNodes(await ask<NodeReportList>(client, question), texts);
      },
      (list) => linesOf(list, output),
      { watch, stream: output !== 'table' && output !== 'wide' },
    ),
  );
}

function linesOf(list: NodeReportList, output: NodesOptions['output']): string[] {
  if (output === 'name') return list.items.map(({ metadata }) => `node/${metadata.name}`);
  if (isObjectFormat(output)) return [objectText(list, output)];
  return nodeLines(list, { wide: output === 'wide' });
}

async function printGraph({ all, output, ...scope }: GraphOptions): Promise<void> {
  await inCluster(scope, async (client) => {
    const graph = await ask<ResourceGraph>(client, {
      verb: 'get',
      path: resourceGraphs(GRAPH),
      scope: 'the whole cluster',
    });
    printLines(
      isObjectFormat(output)
        ? [objectText(graph, output)]
        : graphLines(graph, { all, wide: output === 'wide' }),
    );
  });
}
