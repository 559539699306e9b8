// Own cluster: objects at every limit of the API are slow to delete.
/**
 * The reduced form of `npm run -s poison`: a third of the corpus without its largest objects, another third each day,
 * and few canaries.
 */
import { seedOfToday } from '../seed';
import type { RoleProcess } from '../stack/roles';
import { describeOwnStack } from '../stack/suite';
import { CORPUS } from './corpus';
import { type PoisonResult, runPoison } from './run';

const PART = 3;
const SECONDS = 5;
/** Bytes. Beyond this the apiserver itself takes seconds for each write. */
const LARGEST = 100_000;

describeOwnStack(
  'poison',
  (getFixture) => {
    let controller: RoleProcess;
    let result: PoisonResult;

    beforeAll(async () => {
      const { stack, client } = getFixture();
      controller = await stack.startController();
      const corpus = CORPUS.filter((_, i) => i % PART === seedOfToday() % PART).filter(
        ({ object }) => JSON.stringify(object).length < LARGEST,
      );
      const progress = () => undefined;
      result = await runPoison({ stack, client, controller, corpus, writers: 1, seconds: SECONDS, progress });
    });

    test('every object is refused with a sentence, or its FluxJob says what became of it', () => {
      expect(result.figures.unexplained).toEqual([]);
      for (const { title, status, sentence } of result.submitted.refused) {
        const isClear = status >= 400 && status < 500 && sentence.length > 20;
        expect(isClear ? [] : [title, status, sentence]).toEqual([]);
      }
    });

    test('the Jobs of another namespace are released meanwhile, by one leader', () => {
      expect(result.figures.unreleased).toBe(0);
      expect(result.figures.restarts).toBe(0);
      expect(result.figures.peakRssMiB).toBeLessThan(600);
    });

    test('the Jobs of a namespace without the queue are measured beside them', () => {
      const { plainP50Ms, seenP50Ms } = result.figures;
      expect([plainP50Ms > 0, seenP50Ms > 0]).toEqual([true, true]);
    });

    test('what cannot be read is counted', async () => {
      const metrics = await controller.metrics();
      const [, count] = /^fluxqueue_invalid_workloads_total\{stage="intake"\} (\d+)$/m.exec(metrics) ?? [];
      expect(Number(count)).toBeGreaterThan(0);
    });
  },
  { cluster: { nodes: 20, nodeShape: { cpu: '64', memory: '256Gi', labels: { zone: 'a', size: '64' } } } },
);
