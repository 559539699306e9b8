import { createServer } from 'node:net';
import { serveObservability } from '../../runtime/observability/http';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';

describe('probes and metrics', () => {
  const missing: string[] = [];
  const registry = createRegistry();
  let url: string;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const server = await serveObservability({
      host: '127.0.0.1',
      port: 0,
      registry,
      notReady: () => missing,
    });
    url = `http://127.0.0.1:${server.port}`;
    stop = server.stop;
  });
  afterAll(() => stop());

  const get = async (path: string) => {
    const answer = await fetch(`${url}${path}`);
    return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
  };

  test('is always alive, and ready if nothing is missing', async () => {
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ok\n' });
    missing.push('database', 'cache');
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
    expect(await get('/readyz?verbose')).toMatchObject({ status: 503, text: 'not ready: database, cache\n' });
    missing.length = 0;
  });

  test('serves metrics with help texts in the format of Prometheus', async () => {
    controllerMetrics(registry).grants.inc(3);
    const { text, type } = await get('/metrics');
    expect(type).toContain('version=0.0.4');
    expect(text).toContain('# HELP fluxqueue_grants_total Allocations granted.');
    expect(text).toContain('fluxqueue_grants_total 3');
    expect(text).toContain('process_cpu_seconds_total');
  });

  test('answers other paths with 404', async () => {
    expect(await get('/debug')).toMatchObject({ status: 404 });
  });

  test('reports a port in use', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    try {
      await expect(
        serveObservability({ host: '127.0.0.1', port, registry, notReady: () => [] }),
      ).rejects.toMatchObject({ code: 'FLUXQ_PORT_IN_USE', field: 'http.port', value: port });
    } finally {
      other.close();
    }
  });
});
