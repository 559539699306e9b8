/** Replays recordings of flux-sched through gRPC. */
import { join } from 'node:path';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../runtime/fluxion/server/server';
import { readCases, runOracle, serverFor } from './oracle';

test('the service gives the recorded answers through gRPC', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const server = await startFluxionServer({ address: '127.0.0.1:0', engine: new EmbeddedEngine(), log });
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
