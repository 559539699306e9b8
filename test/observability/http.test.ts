import { createServer } from 'node:net';
import { serveObservability } from '../../runtime/observability/http';
import { controllerMetrics, createRegistry } from '../../runtime/observability/metrics';

describe('probes and metrics', () => {
  const missing: string[] = [];
  const registry = createRegistry();
  let url: string;
  let metricsUrl: string;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const server = await serveObservability({
      http: { host: '127.0.0.1', port: 0 },
      metrics: { host: '127.0.0.1', port: 0 },
      registry,
      notReady: () => missing,
    });
    url = `http://127.0.0.1:${server.port}`;
    metricsUrl = `http://127.0.0.1:${server.metricsPort}`;
    stop = server.stop;
  });
  afterAll(() => stop());

  const get = async (path: string, from = url) => {
    const answer = await fetch(`${from}${path}`);
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
    const { text, type } = await get('/metrics', metricsUrl);
    expect(type).toContain('version=0.0.4');
    expect(text).toContain('# HELP fluxqueue_grants_total Allocations granted.');
    expect(text).toContain('fluxqueue_grants_total 3');
    expect(text).toContain('process_cpu_seconds_total');
  });

  test.each(['/metrics', '/debug', '/', '/toString'])(
    'the port of the probes does not serve %s',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404 });
    },
  );

  test.each(['/healthz', '/readyz'])('the port of the metrics does not serve %s', async (path) => {
    expect(await get(path, metricsUrl)).toMatchObject({ status: 404 });
  });

  test.each(['http', 'metrics'])('reports that %s.port is in use', async (setting) => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    try {
      await expect(
        serveObservability({
          http: { host: '127.0.0.1', port: 0 },
          metrics: { host: '127.0.0.1', port: 0 },
          [setting]: { host: '127.0.0.1', port },
          registry,
          notReady: () => [],
        }),
      ).rejects.toMatchObject({ code: 'FLUXQ_PORT_IN_USE', field: `${setting}.port`, value: port });
    } finally {
      other.close();
    }
  });
});
