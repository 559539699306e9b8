/** A standby with open watches, and the term that takes them over, on a simulated cluster. */
import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { fluxJobs, fluxSetups } from '../../runtime/kubernetes/custom-resources';
import { priorityClasses } from '../../runtime/kubernetes/paths';
import { Standby } from '../../runtime/leader/standby';
import { Term } from '../../runtime/leader/term';
import { createLogger } from '../../runtime/observability/log';
import { controllerMetrics } from '../../runtime/observability/metrics';
import { ObjectStore } from '../fuzz/object-store';
import { observedClient } from '../fuzz/observed-client';
import { QueueModel } from '../fuzz/queue-model';
import { Random } from '../fuzz/random';
import { SimulatedApiserver } from '../fuzz/simulated-apiserver';
import { SimulatedClock } from '../fuzz/simulated-clock';

const clock = new SimulatedClock();
const now = () => 1_800_000_000 + clock.now() / 1000;
const logger = createLogger('test', 'silent');
let listed: string[];

test('a term takes over the watches of its standby, and reads nothing again', async () => {
  listed = [];
  const random = new Random(1);
  const apiserver = new SimulatedApiserver(new ObjectStore(now), clock, random, now);
  const client = observedClient(apiserver.client(), { listed: (path) => listed.push(path) });
  const time = { clock, wall: now, random: random.next };
  const queue = new QueueModel(now);
  const mirrored: string[] = [];
  const versions = async () => {
    mirrored.push('versions');
    if (mirrored.length === 1) throw new Error('database down');
    return [];
  };
  const followed: string[] = [];
  let isWarm = false;
  const standby = new Standby({
    client,
    logger,
    metrics: controllerMetrics(new Registry()),
    time,
    kinds: [],
    queue: () => ({ versions, versioned: async () => [] }),
    fluxion: () => ({
      follow: async (rows, { isSynced }) => void followed.push(`${rows.length} rows, ${isSynced}`),
      stop: () => void followed.push('stopped'),
      get isWarm() {
        return isWarm;
      },
    }),
  });
  standby.warmUp();
  standby.warmUp();
  await clock.advance(4_000);
  // Without the rows a term could not start at once.
  expect([mirrored.length, standby.isWarm]).toEqual([1, false]);
  await clock.advance(5_000);
  expect([mirrored.length, standby.isWarm]).toEqual([2, false]);
  isWarm = true;
  expect(standby.isWarm).toBe(true);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.length).toBeGreaterThanOrEqual(6);

  listed = [];
  const term = async (taken: ReturnType<Standby['take']>) =>
    new Term({
      config: parseConfig({}),
      client,
      queue,
      fluxion: embeddedFluxion(),
      fence: await queue.acquireFence('test', 0),
      logger,
      metrics: controllerMetrics(new Registry()),
      onFenced: () => undefined,
      time,
      ...taken,
    });
  expect(followed).toEqual(['0 rows, true']);
  const first = await term(standby.take());
  expect(followed).toEqual(['0 rows, true', 'stopped']);
  expect(mirrored).toHaveLength(2);
  await clock.until(first.start());
  expect(first.trouble).toBeUndefined();
  // Only MiniClusters have watches of their own, for which no pass waits.
  const shared = ['/api/v1/pods', '/api/v1/nodes', fluxJobs(), fluxSetups(), priorityClasses()];
  expect(listed.filter((path) => shared.includes(path))).toEqual([]);
  await clock.until(first.stop());
  // Asked once more when it has its fence, and no more after that.
  expect(mirrored).toHaveLength(3);

  // A term that failed has stopped the watches: the next one opens its own.
  const second = await term(standby.take());
  await clock.until(second.start());
  expect(listed).toEqual(expect.arrayContaining(shared));
  await clock.until(second.stop());

  standby.warmUp();
  await standby.stop();
  standby.warmUp();
  expect(standby.take()).toEqual({});
});
