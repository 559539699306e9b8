import { NodeTimeline } from '../../../runtime/scheduler/pass/node-timeline';
import fc from '../../fast-check';

const names = fc.uniqueArray(fc.constantFrom('n0', 'n1', 'n2', 'n3'), { minLength: 1 });
const span = fc
  .tuple(fc.constantFrom(Number.NEGATIVE_INFINITY, 1, 3, 5, 7), fc.integer({ min: 1, max: 10 }))
  .map(([start, length]) => ({ start, end: Math.max(start, 0) + length }));
const holding = fc.record({ names, span });
type Holding = { names: readonly string[]; span: { start: number; end: number } };

/** Second by second. */
function most(held: readonly Holding[], from: number, to: number): number {
  const counts = Array.from({ length: to - from }, (_, i) => {
    const there = held.filter(({ span: { start, end } }) => start <= from + i && end > from + i);
    return new Set(there.flatMap((one) => one.names)).size;
  });
  return Math.max(...counts);
}

test('a node that several spans hold at once counts once, at every second and after spans are removed', () => {
  fc.assert(
    fc.property(
      fc.array(holding, { maxLength: 8 }),
      fc.infiniteStream(fc.boolean()),
      holding,
      (all, kept, asked) => {
        const timeline = new NodeTimeline(3, 0);
        for (const one of all) timeline.add(one.names, one.span);
        const left = all.filter(() => kept.next().value);
        for (const one of all) if (!left.includes(one)) timeline.remove(one.names, one.span);
        const window = { start: Math.max(0, asked.span.start), end: asked.span.end };
        const more = [...left, { names: asked.names, span: window }];
        expect(timeline.fits(asked.names, window)).toBe(most(more, window.start, window.end) <= 3);
        expect(timeline.freeIn(window)).toBe(Math.max(0, 3 - most(left, window.start, window.end)));
      },
    ),
  );
});

test('knows which nodes are held all through a span', () => {
  const timeline = new NodeTimeline(3, 0);
  timeline.add(['n0'], { start: Number.NEGATIVE_INFINITY, end: 5 });
  timeline.add(['n0'], { start: 5, end: 8 });
  timeline.add(['n1'], { start: 6, end: 8 });
  const held = ['n0', 'n1', 'n2'].map((name) => timeline.holds(name, { start: 2, end: 8 }));
  expect(held).toEqual([true, false, false]);
});
