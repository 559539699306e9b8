/** The dashboard of the demo, for as long as the demo runs. */
import { LiveView } from '../../runtime/dashboard/live-view';
import { readApi } from '../../runtime/dashboard/read-api';
import { serveDashboard } from '../../runtime/dashboard/server';
import { createClient } from '../../runtime/kubernetes/client';
import { createLogger } from '../../runtime/observability/log';
import type { Screen } from './screen';

/** Prints the address of the dashboard, does the work, and ends the dashboard. */
export async function withDashboard<T>(
  kubeconfig: string,
  screen: Screen,
  work: () => Promise<T>,
): Promise<T> {
  const client = createClient({ kubeconfig });
  // The demo ends the apiserver itself, which is no news.
  const view = new LiveView({ client, logger: createLogger('dashboard', 'silent') });
  try {
    await view.start();
    const server = await serveDashboard({ port: 0, view, answers: readApi(client) });
    try {
      screen.print(`the queue in your browser: ${server.url}`);
      return await work();
    } finally {
      await server.stop();
    }
  } finally {
    view.stop();
    client.close();
  }
}
