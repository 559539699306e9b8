/** The read API in real pods: the apiserver reaches the reader by its Service, and the reader the database and the leader. */
import { histories, nodeReports } from '../../runtime/kubernetes/read-api';
import type { History, NodeReportList } from '../../runtime/reader/kinds';
import { TEAM } from './load';
import type { Run } from './scenario';

/** Asks for the history of a Job that ran, and for what Fluxion holds beside it. */
export async function askReader({ rig: { cluster, nodes }, figures, say }: Run): Promise<void> {
  const start = performance.now();
  // A connection of the apiserver to a pod that was killed ends after some seconds.
  const history = await cluster.waitFor('a history from the read API', () =>
    cluster.get<History>(histories(TEAM, 'gang')),
  );
  const reports = await cluster.waitFor('the view of Fluxion from the read API', async () => {
    const list = await cluster.get<NodeReportList>(nodeReports());
    return list.withoutFluxion === undefined ? list : undefined;
  });
  const seconds = Math.round((performance.now() - start) / 10) / 100;
  const events = history.entries.map(({ event }) => event);
  if (!events.includes('Finished')) figures.problems.push(`the history of gang has only ${events}`);
  const drift = reports.items.flatMap((item) => item.drift);
  if (reports.items.length !== nodes.length || drift.length > 0)
    figures.problems.push(`the read API knows ${reports.items.length} nodes, and says: ${drift}`);
  say(`the read API answered after ${seconds} s`);
}
