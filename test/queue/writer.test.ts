import type { WorkloadRow } from '../../runtime/queue/workload';
import { type Keyed, serialWriter } from '../../runtime/queue/writer';

/** Notes every statement with its uids, and answers with rows that carry nothing else. */
function recorder() {
  const statements: string[] = [];
  const run = async (statement: string, _fence: number, records: readonly Keyed[]) => {
    statements.push(`${statement} ${records.map(({ uid }) => uid).join(' ')}`);
    return records.map(({ uid }) => ({ uid }) as WorkloadRow);
  };
  return { statements, run };
}

describe('serialWriter', () => {
  it('writes at once after a rest', async () => {
    const { statements, run } = recorder();
    const anHour = 3_600_000;
    await serialWriter(run, anHour)('submit', 1, [{ uid: 'a' }]);
    expect(statements).toEqual(['submit a']);
  });

  it('gathers what comes soon after', async () => {
    const { statements, run } = recorder();
    const write = serialWriter(run, 20);
    await write('submit', 1, [{ uid: 'a' }]);
    const later = await Promise.all([write('submit', 1, [{ uid: 'b' }]), write('submit', 1, [{ uid: 'c' }])]);
    expect(statements).toEqual(['submit a', 'submit b c']);
    expect(later.map((rows) => rows.map(({ uid }) => uid))).toEqual([['b'], ['c']]);
  });

  it('shares no statement among fences, and lets no call overtake another about the same uid', async () => {
    const { statements, run } = recorder();
    const write = serialWriter(run, 20);
    const calls = [
      write('submit', 1, [{ uid: 'a' }]),
      write('submit', 1, [{ uid: 'b' }]),
      write('update', 1, [{ uid: 'b' }]),
      write('submit', 1, [{ uid: 'b' }, { uid: 'c' }]),
      write('submit', 2, [{ uid: 'd' }]),
    ];
    await Promise.all(calls);
    expect(statements).toEqual(['submit a', 'submit b', 'update b', 'submit b c', 'submit d']);
  });

  it('waits for nobody when as many wait as there are callers', async () => {
    const sizes: number[] = [];
    const anHour = 3_600_000;
    const write = serialWriter(async (_statement, _fence, records) => {
      sizes.push(records.length);
      return [];
    }, anHour);
    // 32 callers, each with its next call when the last was answered, as the controller's reconcilers.
    const left = Array.from({ length: 321 }, (_, i) => i).values();
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (const i of left) await write('submit', 1, [{ uid: `w-${i}` }]);
      }),
    );
    expect(sizes).toEqual([1, ...Array(10).fill(32)]);
  });

  it('an urgent one goes before what waits, but not before what is about the same uid', async () => {
    const { statements, run } = recorder();
    const write = serialWriter(run, 20);
    const calls = [
      write('submit', 1, [{ uid: 'a' }]),
      write('finish', 1, [{ uid: 'b' }]),
      write('finish', 1, [{ uid: 'c' }]),
      write('update', 1, [{ uid: 'd' }]),
      write('allocate', 1, [{ uid: 'e' }], true),
      write('wait', 1, [{ uid: 'c' }], true),
    ];
    await Promise.all(calls);
    expect(statements).toEqual(['submit a', 'allocate e', 'finish b c', 'wait c', 'update d']);
  });
});
