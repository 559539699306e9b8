import { LIBRARY_UNITS } from '../../../constructs/api/library-size';
import { SizeWarning } from '../../../runtime/fluxion/library/size';
import { recordingLogger } from '../../kubernetes/recording-logger';

const nodes = (count: number) => Array.from({ length: count }, () => ({ units: { core: 64, gpu: 8 } }));

test('warns once when the graph becomes too large, and again only after it was smaller', () => {
  const log = recordingLogger();
  const size = new SizeWarning(log);
  size.check(nodes(400));
  expect(log.lines).toEqual([]);
  for (const count of [1_000, 1_001, 1_000]) size.check(nodes(count));
  expect(log.lines).toEqual([
    {
      level: 'warn',
      fields: { units: 72_000, keepsUp: LIBRARY_UNITS },
      message: expect.stringMatching(/too slow for so many units: choose the embedded engine/),
    },
  ]);
  size.check(nodes(10));
  size.check(nodes(500));
  expect(log.lines).toHaveLength(2);
});
