/** The fuzz judges what a controller says of its own faults, as long as there is one. */
import { Warnings } from './warnings';

test('keeps what a process says of its own faults, and nothing that it says once it is killed', () => {
  const warnings = new Warnings();
  let killed = false;
  const logger = warnings.loggerOf(() => killed);
  const say = () => logger.warn({ error: 'FLUXQ_DATABASE_DOWN: no answer' }, 'pass failed, retrying in 1s');
  say();
  logger.warn('a watch broke');
  expect(warnings.take()).toEqual(['pass failed, retrying in 1s FLUXQ_DATABASE_DOWN: no answer']);
  killed = true;
  say();
  expect(warnings.take()).toEqual([]);
});
