import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary, LIBRARY } from '../../../runtime/fluxion/library/find';
import { EmbeddedEngine } from '../../../runtime/fluxion/matcher/engine';
import { KINDS } from './cases';
import { compare } from './compare';

const path = findLibrary(undefined);

if (path === undefined) {
  test.skip(`flux-sched is not compared: ${LIBRARY} is not installed`, () => {});
} else {
  test.each(KINDS)('the library answers 20 random cases like the embedded matcher: %s', async (kind) => {
    const library = await loadLibraryEngine(path);
    for (let seed = 1; seed <= 20; seed++)
      expect((await compare(kind, seed, library)).difference).toBeUndefined();
    await library.close();
  });
}

test.each(KINDS)('the same seed gives the same answers: %s', async (kind) => {
  const { difference, compared } = await compare(kind, 3, new EmbeddedEngine());
  expect(difference).toBeUndefined();
  expect(compared).toBeGreaterThan(3);
});

test('finds a different answer', async () => {
  const other = new EmbeddedEngine();
  const match = other.match.bind(other);
  let asked = 0;
  other.match = async (request) => (++asked % 3 === 0 ? { status: 'BUSY', text: '' } : match(request));
  const found: unknown[] = [];
  for (const seed of [1, 2, 3, 4]) found.push((await compare('flat', seed, other)).difference?.library);
  expect(found).toContain('BUSY');
});
