import { join } from 'node:path';
import { readCases, runOracle, serverFor } from './oracle';

// Recorded answers of the C library of flux-sched 0.54 to random operations on random graphs.
describe.each([
  { name: 'without a clock', file: 'fluxion-0.54.jsonl.gz', cases: 160, ops: 3816 },
  {
    name: 'with time that moves and several reservations',
    file: 'fluxion-0.54-time.jsonl.gz',
    cases: 120,
    ops: 4782,
  },
  {
    name: 'with zones, racks, sockets and count ranges',
    file: 'fluxion-0.54-topology.jsonl.gz',
    cases: 56,
    ops: 1428,
  },
])('the embedded matcher compared with flux-sched: $name', ({ file, cases, ops }) => {
  test('gives every recorded answer exactly, to the vertex and second', async () => {
    const server = await serverFor('embedded');
    const report = await runOracle(readCases(join(__dirname, 'oracle', file)), server);
    await server.close();
    expect(report).toEqual({ cases, identical: cases, ops, identicalOps: ops, differences: [] });
  });
});
