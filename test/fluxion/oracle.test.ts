import { join } from 'node:path';
import { readCases, runOracle, serverFor } from './oracle';

// What flux-sched 0.54's C library answered to random operations on random graphs.
describe.each([
  { name: 'its own axis, where time stands still', file: 'fluxion-0.54.jsonl.gz', cases: 160, ops: 3816 },
  { name: 'time moving, several reservations', file: 'fluxion-0.54-time.jsonl.gz', cases: 120, ops: 4782 },
])('the embedded matcher beside the real Fluxion: $name', ({ file, cases, ops }) => {
  test('gives every recorded answer, to the vertex and second', async () => {
    const server = await serverFor('embedded');
    const report = await runOracle(readCases(join(__dirname, 'oracle', file)), server);
    await server.close();
    expect(report).toEqual({ cases, identical: cases, ops, identicalOps: ops, differences: [] });
  });
});
