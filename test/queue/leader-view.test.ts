import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { LeaderView } from '../../runtime/queue/leader-view';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { describePostgres } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { useQueue } from './queue-fixture';

const VIEW: LeaderView = {
  bootId: 'boot',
  nodes: [],
  reservations: [],
  drift: { 'node-1': ['a difference'] },
};

describePostgres("the leader's view", (getPostgres) => {
  const fixture = useQueue(getPostgres);
  let reader: Queue;
  beforeEach(() => {
    // As the reader connects: it may write nothing.
    const options = encodeURIComponent('-c default_transaction_read_only=on');
    reader = openQueue({ url: `${fixture.url}?options=${options}`, units: DEFAULT_UNITS, migrates: false });
  });
  afterEach(() => reader.close());

  test('a session that may only read asks, and gets the answer of the leader', async () => {
    const { queue, fence } = fixture;
    await expect(reader.setView(fence, VIEW)).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN' });
    const leader = queue.onViewAsked(() => void queue.setView(fence, VIEW));
    await leader.ready;
    let isStored = false;
    const waiting = reader.onViewStored(() => {
      isStored = true;
    });
    await waiting.ready;
    await reader.askView();
    await waitFor('the view', async () => isStored);
    expect(await reader.view()).toEqual({
      fence,
      view: VIEW,
      at: expect.any(Number),
      age: expect.any(Number),
    });
    await Promise.all([leader.stop(), waiting.stop()]);
  });

  test('a leader of before writes none, and its view does not count', async () => {
    const { queue, fence } = fixture;
    await queue.setView(fence, VIEW);
    expect(await queue.view()).toMatchObject({ fence });
    const next = await queue.acquireFence('next');
    expect(await queue.view()).toBeUndefined();
    await expect(queue.setView(fence, VIEW)).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    await queue.setView(next, { ...VIEW, bootId: 'other' });
    expect(await reader.view()).toMatchObject({ fence: next, view: { bootId: 'other' } });
  });

  test('to stop does not wait for a database that does not answer', async () => {
    // It takes the connection and says nothing, for as long as anybody waits.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const down = openQueue({
      url: `postgres://fluxqueue@127.0.0.1:${(silent.address() as AddressInfo).port}/x`,
      units: DEFAULT_UNITS,
      migrates: false,
      connectTimeoutMs: 3_600_000,
    });
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const leader = down.onViewAsked(() => undefined);
    const [connection] = await connected;
    await leader.stop();
    expect(connection.closed).toBe(false);
    connection.destroy();
    silent.close();
    await down.close();
  });

  test('a connection that breaks is replaced, and counts as broken', async () => {
    const { queue, fence } = fixture;
    let asked = 0;
    const leader = queue.onViewAsked(() => {
      asked += 1;
    });
    await leader.ready;
    const before = queue.disconnects;
    await fixture.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    // Who listens again may have missed a question.
    await waitFor('the next connection', async () => asked > 0);
    expect(queue.disconnects).toBeGreaterThan(before);
    await reader.askView();
    await waitFor('the question', async () => asked > 1);
    await leader.stop();
    expect(await queue.setView(fence, VIEW)).toBeUndefined();
  });
});
