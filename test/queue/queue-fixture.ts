/** A migrated queue in a fresh database for each test, with rows in any phase. */
import { Client } from 'pg';
import { DEFAULT_UNITS, type UnitSettings } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { allocationOf, submission } from './submission';

/** Opens the queue before each test of the suite and closes it afterwards. */
export function useQueue(
  getPostgres: () => { freshDatabase(): Promise<string> },
  units: UnitSettings = DEFAULT_UNITS,
): QueueFixture {
  const fixture = new QueueFixture(units);
  beforeEach(async () => fixture.open(await getPostgres().freshDatabase()));
  afterEach(() => fixture.queue.close());
  return fixture;
}

export class QueueFixture {
  url = '';
  queue!: Queue;
  fence = 0;

  constructor(private readonly units: UnitSettings) {}

  async open(url: string): Promise<void> {
    this.url = url;
    this.queue = openQueue({ url, units: this.units });
    await this.queue.migrate();
    this.fence = await this.queue.acquireFence('leader-1');
  }

  async sql<T>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async row(uid: string): Promise<WorkloadRow> {
    const [found] = await this.queue.byUid([uid]);
    return found!;
  }

  async events(uid: string): Promise<string[]> {
    return (await this.queue.history(uid)).map(({ event }) => event);
  }

  /** A row in this phase, by the writes that every row goes through. */
  async rowIn(phase: Phase, uid: string = phase): Promise<WorkloadRow> {
    const { queue, fence } = this;
    const [waiting] = await queue.submit(fence, [submission(uid)]);
    if (phase === 'Ready' || phase === 'Running')
      await queue.allocate(fence, [{ uid, allocation: allocationOf(waiting!, ['node-1', 'node-2']) }]);
    if (phase === 'Running') await queue.running(fence, [{ uid, startedAt: 110 }]);
    if (phase === 'Finished') await queue.finish(fence, [{ uid, result: 'Failed', finishedAt: 120 }]);
    return this.row(uid);
  }
}
