import type { Case, Outcome } from './case';
import { compare } from './compare';

const ran = (running: number, nodes: number): Outcome => ({
  running,
  nodes,
  succeeded: 0,
  failed: 0,
  zones: 1,
});

describe('the comparison of a workload that is changed', () => {
  const each: Case = {
    name: 'web',
    manifests: () => [],
    expected: { running: 16, nodes: 4 },
    steps: [{ patch: ['apps/v1', 'deployments', 'web', {}], expected: { running: 3 } }],
    explained: { nodes: 'any may stay' },
  };
  const full = ran(16, 4);

  test.each([
    ['more', [full, ran(3, 2)], [full, ran(3, 3)]],
    ['fewer', [full, ran(3, 3)], [full, ran(3, 1)]],
  ])('explains %s nodes as its case does', (_, plain, queued) => {
    const { different, isExpected } = compare(each, plain, queued, new Map());
    expect({ different, isExpected }).toEqual({ different: { nodes: 'any may stay' }, isExpected: true });
  });

  test('explains no other field', () => {
    const { different } = compare(each, [full, ran(3, 2)], [full, ran(2, 2)], new Map());
    expect(different).toEqual({ running: '' });
  });

  test('explains nothing of what came before the last step', () => {
    const queued = [ran(12, 3), ran(3, 2)];
    expect(compare(each, [full, ran(3, 2)], queued, new Map())).toMatchObject({
      plain: full,
      queued: queued[0],
      different: { running: '', nodes: '' },
      isExpected: true,
    });
  });

  test('finds a case wrong whose plain workload did not come to what it says before the last step', () => {
    const plain = [ran(12, 3), ran(3, 2)];
    expect(compare(each, plain, [full, ran(3, 2)], new Map()).isExpected).toBe(false);
  });
});
