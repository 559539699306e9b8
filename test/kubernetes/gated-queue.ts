/** A work queue on a manual clock, and runs that end when a test says so. */
import { type Outcome, WorkQueue, type WorkQueueOptions } from '../../runtime/kubernetes/work-queue';
import { ManualClock } from './manual-clock';
import { recordingLogger } from './recording-logger';

export function setUp(options: Partial<WorkQueueOptions> & Pick<WorkQueueOptions, 'reconcile'>) {
  const clock = new ManualClock();
  const logger = recordingLogger();
  const outcomes: [string, Outcome][] = [];
  const queue = new WorkQueue({
    name: 'test',
    logger,
    clock,
    // The longest wait of every backoff.
    random: () => 1,
    onOutcome: (key, outcome) => outcomes.push([key, outcome]),
    ...options,
  });
  return { clock, logger, outcomes, queue };
}

/** A reconcile function whose runs end when the test says so. */
export function gated() {
  const runs: { readonly key: string; readonly end: () => void }[] = [];
  const reconcile = (key: string) => new Promise<void>((end) => runs.push({ key, end }));
  return { runs, reconcile, keys: () => runs.map(({ key }) => key) };
}
