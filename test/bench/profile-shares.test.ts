import { secondsByFunction, secondsByKind } from './profile-shares';

const RAW = `PeriodType: cpu nanoseconds
Samples:
samples/count cpu/nanoseconds
          2   20000000: 1 2
          1   10000000: 3
          5   50000000: 4 3
          1   10000000: 9
Locations
     1: 0x402d25 M=1 runtime.mallocgc /go/runtime/malloc.go:12:0 s=1
             k8s.io/apiserver/pkg/admission/plugin/policy/mutating.(*dispatcher).dispatchOne /k8s/dispatcher.go:9:0 s=2
     2: 0x402d26 M=1 k8s.io/apiserver/pkg/endpoints/handlers.createHandler.func1 /k8s/create.go:3:0 s=3
     3: 0x402d27 M=1 k8s.io/apiserver/pkg/endpoints/handlers.createHandler.func1 /k8s/create.go:4:0 s=3
     4: 0x402d28 M=1 runtime.memmove /go/runtime/memmove.s:4:0 s=3
     9: 0x402d29 M=1 main.unknown /main.go:4:0 s=3
Mappings
1: 0x400000/0x5000000/0x0 /bin/controlplane`;

test('gives a sample of Go to the first kind that its stack matches, inlined functions included', () => {
  const seconds = secondsByKind(RAW);
  expect(seconds.get('mutating policies')).toBeCloseTo(0.02);
  expect(seconds.get('create')).toBeCloseTo(0.06);
  expect(seconds.get('other')).toBeCloseTo(0.01);
  expect(seconds.get('patch')).toBe(0);
});

test('sums the time in each function of a profile of V8, without idle time', () => {
  const nodes = [
    { id: 1, callFrame: { functionName: 'pass' } },
    { id: 2, callFrame: { functionName: '(idle)' } },
    { id: 3, callFrame: { functionName: '' } },
    { id: 4, callFrame: { functionName: 'pass' } },
  ];
  const seconds = secondsByFunction({ nodes, samples: [1, 2, 3, 4], timeDeltas: [1_000, 9_000, 500, 2_000] });
  expect([...seconds]).toEqual([
    ['pass', 0.003],
    ['(anonymous)', 0.0005],
  ]);
});
