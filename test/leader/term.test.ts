/** The beginning and the end of a term on a simulated cluster. */
import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { Term } from '../../runtime/leader/term';
import { createLogger } from '../../runtime/observability/log';
import { controllerMetrics } from '../../runtime/observability/metrics';
import { ObjectStore } from '../fuzz/object-store';
import { QueueModel } from '../fuzz/queue-model';
import { Random } from '../fuzz/random';
import { SimulatedApiserver } from '../fuzz/simulated-apiserver';
import { SimulatedClock } from '../fuzz/simulated-clock';

class World {
  readonly clock = new SimulatedClock();
  readonly now = () => 1_800_000_000 + this.clock.now() / 1000;
  readonly queue = new QueueModel(this.now);
  readonly calls: string[] = [];
  /** The call to the database that does not return before `release`. */
  blocked: string | undefined;
  release: () => void = () => undefined;
  private readonly chance = new Random(1);

  async term(): Promise<Term> {
    const store = new ObjectStore(this.now);
    const apiserver = new SimulatedApiserver(store, this.clock, this.chance, this.now);
    return new Term({
      config: parseConfig({}),
      client: apiserver.client(),
      queue: this.recorded(),
      fluxion: embeddedFluxion(),
      fence: await this.queue.acquireFence('test', 0),
      logger: createLogger('test', 'silent'),
      metrics: controllerMetrics(new Registry()),
      onFenced: () => undefined,
      time: { clock: this.clock, wall: this.now, random: this.chance.next },
    });
  }

  private recorded(): QueueModel {
    return new Proxy(this.queue, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        // A subscription is no call to the database.
        if (typeof value !== 'function' || key === 'onViewAsked') return value;
        return async (...args: unknown[]) => {
          this.calls.push(String(key));
          if (key === this.blocked)
            await new Promise<void>((resolve) => {
              this.release = resolve;
            });
          return Reflect.apply(value, target, args);
        };
      },
    });
  }
}

test('reads the rows before it writes the queues, and is not ready before passes run', async () => {
  const world = new World();
  const term = await world.term();
  expect(term.trouble).toBe('the term is starting');
  await world.clock.until(term.start());
  expect(term.trouble).toBeUndefined();
  expect(world.calls.indexOf('active')).toBeLessThan(world.calls.indexOf('setQueues'));
  await world.clock.until(term.stop());
});

test.each([['active'], ['setQueues']])(
  'a term that is stopped while it waits for %s makes no further call',
  async (call) => {
    const world = new World();
    world.blocked = call;
    const term = await world.term();
    const started = term.start();
    await world.clock.advance(2_000);
    expect(world.calls).toContain(call);
    await world.clock.until(term.stop());
    const before = [...world.calls];
    world.release();
    await world.clock.until(started);
    await world.clock.advance(60_000);
    // The reads of a reload that was in flight may follow.
    expect(world.calls.slice(before.length).filter((name) => name !== 'shares')).toEqual([]);
    expect(term.trouble).toBe('the term is starting');
  },
);
