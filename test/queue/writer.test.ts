import { FluxqError } from '../../runtime/errors';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { type Keyed, type Run, serialWriter } from '../../runtime/queue/writer';
import { ManualClock } from '../kubernetes/manual-clock';

/** Records each statement with its uids, and returns rows with a uid only. */
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
    await serialWriter(run, { gatherMs: 20, clock: new ManualClock() })('submit', 1, [{ uid: 'a' }]);
    expect(statements).toEqual(['submit a']);
  });

  it('gathers calls that come soon after a statement', async () => {
    const { statements, run } = recorder();
    const clock = new ManualClock();
    const write = serialWriter(run, { gatherMs: 20, clock });
    await write('submit', 1, [{ uid: 'a' }]);
    const soon = Promise.all([write('submit', 1, [{ uid: 'b' }]), write('submit', 1, [{ uid: 'c' }])]);
    await clock.advance(19);
    expect(statements).toEqual(['submit a']);
    await clock.advance(1);
    const later = await soon;
    expect(statements).toEqual(['submit a', 'submit b c']);
    expect(later.map((rows) => rows.map(({ uid }) => uid))).toEqual([['b'], ['c']]);
  });

  it('shares no statement between fences, and lets no call overtake another about the same uid', async () => {
    const { statements, run } = recorder();
    const clock = new ManualClock();
    const write = serialWriter(run, { gatherMs: 20, clock });
    const calls = [
      write('submit', 1, [{ uid: 'a' }]),
      write('submit', 1, [{ uid: 'b' }]),
      write('update', 1, [{ uid: 'b' }]),
      write('submit', 1, [{ uid: 'b' }, { uid: 'c' }]),
      write('submit', 2, [{ uid: 'd' }]),
    ];
    await clock.advance(20);
    await Promise.all(calls);
    expect(statements).toEqual(['submit a', 'submit b', 'update b', 'submit b c', 'submit d']);
  });

  it('gathers once for calls of all kinds, and lets an urgent call pass meanwhile', async () => {
    const { statements, run } = recorder();
    const clock = new ManualClock();
    const began: number[] = [];
    const timed: typeof run = (...statement) => {
      began.push(clock.now());
      return run(...statement);
    };
    const write = serialWriter(timed, { gatherMs: 200, clock });
    await write('submit', 1, [{ uid: 'a' }]);
    const kinds = ['submit', 'released', 'running', 'finish'];
    const calls = kinds.map((kind, i) => write(kind, 1, [{ uid: `b${i}` }]));
    await clock.advance(150);
    await write('allocate', 1, [{ uid: 'c' }], { pace: 'urgent' });
    expect(statements).toEqual(['submit a', 'allocate c']);
    await clock.advance(200);
    await Promise.all(calls);
    expect(statements.slice(2)).toEqual(['submit b0', 'released b1', 'running b2', 'finish b3']);
    // The round waited for the first statement, not for the urgent one, and its statements did not wait for each other.
    expect(began).toEqual([0, 150, 200, 200, 200, 200]);
  });

  it('lets marks wait for several rounds, but not behind a later call about the same uid', async () => {
    const { statements, run } = recorder();
    const clock = new ManualClock();
    const write = serialWriter(run, { gatherMs: 50, clock });
    const mark = (uid: string) => write('running', 1, [{ uid }], { pace: 'mark' });
    await mark('a');
    const marks = [mark('b'), mark('c')];
    await clock.advance(50);
    await write('submit', 1, [{ uid: 'd' }]);
    expect(statements).toEqual(['running a', 'submit d']);
    const end = write('finish', 1, [{ uid: 'c' }]);
    await clock.advance(50);
    await Promise.all([...marks, end]);
    expect(statements.slice(2)).toEqual(['running b c', 'finish c']);
    const last = mark('e');
    await clock.advance(199);
    expect(statements.slice(4)).toEqual([]);
    await clock.advance(1);
    await last;
    expect(statements.slice(4)).toEqual(['running e']);
  });

  it('does not gather any longer when all callers wait', async () => {
    const sizes: number[] = [];
    const gathered: Run = async (_statement, _fence, records) => {
      sizes.push(records.length);
      return [];
    };
    // Time stands still: what is written was not waited for.
    const write = serialWriter(gathered, { gatherMs: 20, clock: new ManualClock() });
    // 32 callers like the reconcilers of the controller: each calls again after its last call was answered.
    const left = Array.from({ length: 321 }, (_, i) => i).values();
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (const i of left) await write('submit', 1, [{ uid: `w-${i}` }]);
      }),
    );
    expect(sizes).toEqual([1, ...Array(10).fill(32)]);
  });

  const down = new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true });
  it.each([
    ['an idle connection', 1, new Error('refused')],
    ['its own connection', 0, down],
  ])('fails calls that waited while %s broke, and writes later ones', async (_, broke, failure) => {
    let disconnects = 0;
    const { statements, run } = recorder();
    const { promise: broken, reject: breakConnection } = Promise.withResolvers<never>();
    const runOrBreak: typeof run = (statement, ...rest) =>
      statement === 'submit' ? broken : run(statement, ...rest);
    const write = serialWriter(runOrBreak, { disconnects: () => disconnects });
    const underWay = write('submit', 1, [{ uid: 'a' }]);
    const waiting = [
      write('allocate', 1, [{ uid: 'b' }], { pace: 'urgent' }),
      write('finish', 1, [{ uid: 'c' }]),
    ];
    disconnects = broke;
    breakConnection(failure);
    await expect(underWay).rejects.toBe(failure);
    for (const call of waiting)
      await expect(call).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
    expect((await write('finish', 1, [{ uid: 'd' }])).map(({ uid }) => uid)).toEqual(['d']);
    expect(statements).toEqual(['finish d']);
  });

  it('writes an urgent call before waiting calls, but not before those about the same uid', async () => {
    const { statements, run } = recorder();
    const clock = new ManualClock();
    const write = serialWriter(run, { gatherMs: 20, clock });
    const calls = [
      write('submit', 1, [{ uid: 'a' }]),
      write('finish', 1, [{ uid: 'b' }]),
      write('finish', 1, [{ uid: 'c' }]),
      write('update', 1, [{ uid: 'd' }]),
      write('allocate', 1, [{ uid: 'e' }], { pace: 'urgent' }),
      write('wait', 1, [{ uid: 'c' }], { pace: 'urgent' }),
    ];
    await clock.advance(20);
    await Promise.all(calls);
    expect(statements).toEqual(['submit a', 'allocate e', 'finish b c', 'wait c', 'update d']);
  });
});
