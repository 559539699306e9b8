/** A migrated queue in a fresh database for each test, with rows in any phase. */
import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { allocationOf, submission } from './submission';

/** Opens the queue before each test of the suite and closes it afterwards. */
export function useQueue(getPostgres: () => { freshDatabase(): Promise<string> }): QueueFixture {
  const fixture = new QueueFixture();
  beforeEach(async () => fixture.open(await getPostgres().freshDatabase()));
  afterEach(() => fixture.queue.close());
  return fixture;
}

export class QueueFixture {
  url = '';
  queue!: Queue;
  fence = 0;

  async open(url: string): Promise<void> {
    this.url = url;
    this.queue = openQueue({ url, units: DEFAULT_UNITS });
    await this.queue.migrate();
    this.fence = await this.queue.acquireFence('test');
  }

  async sql<T>(text: string): Promise<T[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
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
