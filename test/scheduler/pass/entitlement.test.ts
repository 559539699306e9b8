import { ownQuotaFor } from '../../../runtime/scheduler/pass/entitlement';
import { DIMENSIONS } from '../../../runtime/scheduler/pass/usage';

test('a claim takes of the own quota what its workload is charged, with what its pods still use beyond the grant before', () => {
  const cores = DIMENSIONS.indexOf('cores');
  const amounts = (count: number) => Float64Array.from(DIMENSIONS, (_, i) => (i === cores ? count : 0));
  const claim = {
    uid: 'claim',
    jobid: 1,
    isClaim: true,
    allocation: { jobid: 1, start: 20, end: 30, nodes: [] },
  };
  const pass = {
    quotas: {
      without: (_: unknown, left: () => Float64Array) => left(),
      leftOf: () => amounts(8),
      chargedBy: () => amounts(5),
    },
    reservations: { ofQueue: () => [claim], rowOf: () => ({ uid: 'claim', queue: 'a', pods: 1 }) },
    units: { cpuMillis: 1000, memoryMiB: 1024 },
  };
  const left = ownQuotaFor(pass as never, { uid: 'row', queue: 'a' } as never, 10);
  expect(left[cores]).toBe(3);
});
