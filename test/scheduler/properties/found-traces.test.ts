import { check } from './conservation';
import { FOUND_TRACES } from './found-traces';

test.each(FOUND_TRACES)('$name', async (trace) => {
  await expect(check(trace)).resolves.toBeUndefined();
});
