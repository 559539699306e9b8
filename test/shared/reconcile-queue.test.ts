import { Registry } from 'prom-client';
import { FluxqError } from '../../runtime/errors';
import type { Logger } from '../../runtime/observability/log';
import { controllerMetrics } from '../../runtime/observability/metrics';
import { reconcileQueue } from '../../runtime/shared/reconcile-queue';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

function setUp(failures: Error[]) {
  const clock = new ManualClock();
  const logger = recordingLogger();
  const fenced: Error[] = [];
  const registry = new Registry();
  const metrics = controllerMetrics(registry);
  let runs = 0;
  const queue = reconcileQueue(
    {
      time: { clock, random: () => 0, wall: () => 0 },
      logger: logger as unknown as Logger,
      metrics,
      onFenced: (error) => fenced.push(error),
    },
    {
      name: 'test',
      concurrency: 1,
      reconcile: async () => {
        runs += 1;
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return undefined;
      },
    },
  );
  return { clock, logger, fenced, registry, metrics, queue, runs: () => runs };
}

test('retries a rejected key after 30 seconds and logs the rejection', async () => {
  const { clock, logger, queue, runs } = setUp([new FluxqError('FLUXQ_KUBERNETES_INVALID', 'no')]);
  queue.add('a');
  await settle();
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { queue: 'test', key: 'a' } }]);
  await clock.advance(29_000);
  expect(runs()).toBe(1);
  await clock.advance(1_000);
  expect(runs()).toBe(2);
});

test('retries a failed key at the latest after four seconds', async () => {
  const failures = Array.from({ length: 20 }, () => new Error('down'));
  const { clock, queue, runs } = setUp(failures);
  queue.add('a');
  await clock.advance(40_000);
  expect(runs()).toBeGreaterThan(12);
});

test('ends the term when a write is fenced', async () => {
  const { fenced, queue } = setUp([new FluxqError('FLUXQ_FENCED', 'another leader')]);
  queue.add('a');
  await settle();
  expect(fenced).toMatchObject([{ code: 'FLUXQ_FENCED' }]);
});

test.each([
  ['a rejected write', () => new FluxqError('FLUXQ_KUBERNETES_INVALID', 'no')],
  ['an object on which the program fails', () => new TypeError('cannot read')],
])('retries %s every 30 seconds and logs its stack once', async (_, failure) => {
  const { clock, logger, queue, runs } = setUp([failure(), failure(), failure()]);
  queue.add('a');
  await settle();
  await clock.advance(60_000);
  expect(runs()).toBe(3);
  expect(logger.lines.map(({ fields }) => 'err' in fields)).toEqual([true, false, false]);
});

test('logs the stack of a failure once, and its message each time', async () => {
  const { clock, logger, queue } = setUp([new Error('down'), new Error('down'), new Error('down')]);
  queue.add('a');
  await clock.advance(10_000);
  expect(logger.lines.map(({ message }) => message)).toEqual(['down', 'down', 'down']);
  expect(logger.lines.map(({ fields }) => 'err' in fields)).toEqual([true, false, false]);
});

test('retries a key that alone is not answered less and less often, and in an outage as often as any other', async () => {
  const timeout = () =>
    new FluxqError('FLUXQ_KUBERNETES_TIMEOUT', 'no answer within 30 s', { retryable: true });
  const slow = setUp([]);
  let fail: ((error: Error) => void) | undefined;
  const starts: number[] = [];
  const queue = reconcileQueue(
    {
      time: { clock: slow.clock, random: () => 0, wall: () => 0 },
      logger: slow.logger as unknown as Logger,
      metrics: slow.metrics,
      onFenced: () => undefined,
    },
    {
      name: 'test',
      concurrency: 2,
      reconcile: (key) => {
        if (key === 'other') return Promise.resolve(undefined);
        starts.push(slow.clock.now());
        return new Promise((_, reject) => {
          fail = reject;
        });
      },
    },
  );
  const timeOut = async (isOutage: boolean) => {
    if (!isOutage) queue.add('other');
    await slow.clock.advance(1);
    fail!(timeout());
    await settle();
  };
  queue.add('slow');
  await timeOut(true);
  await slow.clock.advance(500);
  expect(starts).toHaveLength(2);
  await timeOut(false);
  await slow.clock.advance(29_000);
  expect(starts).toHaveLength(2);
  await slow.clock.advance(1_000);
  expect(starts).toHaveLength(3);
  await timeOut(false);
  await slow.clock.advance(59_000);
  expect(starts).toHaveLength(3);
  await slow.clock.advance(1_000);
  expect(starts).toHaveLength(4);
});

test('its depth grows while no run ends, and is nothing after its term', async () => {
  const { clock, logger, registry, metrics } = setUp([]);
  const queue = reconcileQueue(
    {
      time: { clock, random: () => 0, wall: () => 0 },
      logger: logger as unknown as Logger,
      metrics,
      onFenced: () => undefined,
    },
    { name: 'stuck', concurrency: 1, reconcile: () => new Promise(() => undefined) },
  );
  const depth = async () =>
    /^fluxqueue_work_queue_depth\{queue="stuck"\} (\d+)$/m.exec(await registry.metrics())?.[1];
  expect(await depth()).toBe('0');
  for (const key of ['a', 'b', 'c']) queue.add(key);
  expect(await depth()).toBe('2');
  void queue.stop();
  expect(await depth()).toBe('0');
});
