/** What `why` prints in every situation that there is. The texts were read as a user would. */
import { scheduled } from '../../../runtime/fluxjobs/reading';
import { REASONS } from '../../../runtime/fluxjobs/status';
import { page, writtenPage } from './reasons-page';
import { arranged, SITUATIONS } from './situations';

test.each(SITUATIONS)('$reason: $because', async (situation) => {
  const world = await arranged(situation);
  const lines = world.why();
  const { reason } = scheduled(world.fluxJob());
  await world.close();
  expect([reason, ...lines]).toEqual([situation.reason, ...situation.prints]);
});

test('every reason of a FluxJob has a situation', () => {
  const shown = new Set(SITUATIONS.map(({ reason }) => reason));
  expect(REASONS.filter((reason) => !shown.has(reason))).toEqual([]);
});

test('no two situations have one name', () => {
  const names = SITUATIONS.map(({ because }) => because);
  expect(new Set(names).size).toBe(names.length);
});

test('docs/reasons.md has every situation', () => {
  expect(writtenPage()).toBe(page());
});
