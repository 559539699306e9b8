/** The recordings of the real Fluxion, asked through gRPC: nothing is lost on the way. */
import { join } from 'node:path';
import { serveFluxion } from '../../runtime/fluxion/server/engine-choice';
import { readCases, runOracle, serverFor } from './oracle';

test('the first recorded cases come out identical through the service', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const server = await serveFluxion({ address: '127.0.0.1:0', engine: 'embedded', log });
  const oracle = await serverFor(server.address);
  for (const recording of RECORDINGS) {
    const report = await runOracle(first(20, readCases(join(__dirname, 'oracle', recording))), oracle);
    expect(report).toMatchObject({ cases: 20, identical: 20, differences: [] });
  }
  await oracle.close();
  await server.stop();
});

const RECORDINGS = ['fluxion-0.54.jsonl.gz', 'fluxion-0.54-time.jsonl.gz'];

async function* first<T>(count: number, items: AsyncIterable<T>): AsyncGenerator<T> {
  let seen = 0;
  for await (const item of items) {
    yield item;
    if (++seen === count) return;
  }
}
