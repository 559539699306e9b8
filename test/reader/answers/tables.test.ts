/** The answers that need the tables alone, on a real Postgres. */
import { QUEUE_DEFAULTS } from '../../../constructs/api/queue-defaults';
import { systemTime } from '../../../runtime/clock';
import { parseConfig } from '../../../runtime/config';
import type { FluxqError } from '../../../runtime/errors';
import type { KubernetesClient } from '../../../runtime/kubernetes/client';
import { createLogger } from '../../../runtime/observability/log';
import { openQueue } from '../../../runtime/queue/queue';
import type { Queue } from '../../../runtime/queue/store';
import type { Submission } from '../../../runtime/queue/workload';
import { readResources } from '../../../runtime/reader/answers/index';
import type { History, Usage } from '../../../runtime/reader/kinds';
import type { ReadRequest } from '../../../runtime/reader/resource';
import { describePostgres } from '../../cluster/suite';
import { useQueue } from '../../queue/queue-fixture';
import { allocationOf, submission } from '../../queue/submission';
import { NOBODY } from '../../unreachable';

describePostgres('answers from the tables', (getPostgres) => {
  const fixture = useQueue(getPostgres);
  const config = parseConfig({ fairShare: { enabled: true } });
  let answers: ReturnType<typeof readResources>;
  let url: string;
  let queue: Queue | undefined;
  beforeEach(() => {
    url = fixture.url;
    answers = readResources({
      config,
      // Whoever asks it fails: these answers read no object.
      client: {} as KubernetesClient,
      queue: async () => {
        queue ??= openQueue({ url, units: config.units, migrates: false });
        return queue;
      },
      logger: createLogger('reader', 'silent'),
      time: systemTime,
    });
  });
  afterEach(async () => {
    await answers.stop();
    await queue?.close();
    queue = undefined;
  });

  function ask<T>(
    resource: string,
    over: Partial<ReadRequest> = {},
    query: Record<string, string> = {},
  ): Promise<T> {
    const found = answers.resources.find(({ name }) => name === resource)!;
    return found.answer({
      reader: { username: 'ada', groups: [], extra: {} },
      query: new URLSearchParams(query),
      signal: new AbortController().signal,
      ...over,
    }) as Promise<T>;
  }

  async function ran(uid: string, over: Partial<Submission> = {}): Promise<void> {
    const { queue: tables, fence } = fixture;
    const [row] = await tables.submit(fence, [submission(uid, over)]);
    await tables.allocate(fence, [{ uid, allocation: allocationOf(row!) }]);
    await tables.running(fence, [{ uid, startedAt: 1_700_000_100 }]);
    await tables.finish(fence, [{ uid, result: 'Succeeded', finishedAt: 1_700_003_700 }]);
  }

  const PERIOD = { from: '2023-11-01', until: '2023-12-01' };

  test('a history has the events of all workloads of the name, and none of another namespace', async () => {
    await ran('a', { name: 'solver' });
    await ran('b', { name: 'solver', namespace: 'secret' });
    const history = await ask<History>('histories', { namespace: 'science', name: 'solver' });
    expect(history).toMatchObject({ kind: 'History', metadata: { name: 'solver', namespace: 'science' } });
    expect(history.entries.map(({ uid, event, message }) => `${uid} ${event}: ${message}`)).toEqual([
      'a Submitted: was admitted and added to the queue',
      'a Allocated: enough units were free for it',
      'a Running: its first pod runs',
      'a Finished: it succeeded',
    ]);
    expect(history.entries[0]).toMatchObject({ actor: 'ada', kind: 'Job', at: expect.stringMatching(/Z$/) });
    await expect(ask('histories', { namespace: 'science', name: 'nobody' })).rejects.toThrow(
      /^FLUXQ_HISTORY_NOT_FOUND: science\/nobody: no workload of this name was ever queued; check the name/,
    );
  });

  test('the usage of a namespace has its own hours only', async () => {
    await ran('a');
    await ran('b', { namespace: 'secret', user: 'eve', queue: 'secret/q' });
    const all = await ask<Usage>('usages', {}, { ...PERIOD, by: 'namespace' });
    expect(all.lines.map(({ namespace, jobs, cpuHours }) => [namespace, jobs, cpuHours])).toEqual([
      ['science', 1, 1],
      ['secret', 1, 1],
    ]);
    for (const by of ['queue,user', 'namespace', '']) {
      const own = await ask<Usage>('usages', { namespace: 'science' }, { ...PERIOD, by });
      expect(own.lines).toMatchObject([{ jobs: 1, pods: 1, cpuHours: 1 }]);
      expect(JSON.stringify(own)).not.toMatch(/secret|eve/);
    }
  });

  test('fair shares of a namespace are those of its queues and of who asks', async () => {
    const { queue: tables, fence } = fixture;
    await tables.setQueues(fence, [
      { ...QUEUE_DEFAULTS, name: 'default', namespace: null },
      { ...QUEUE_DEFAULTS, name: 'secret/q', namespace: 'secret', weight: 3 },
    ]);
    const now = Date.now() / 1000;
    for (const [uid, over] of [
      ['a', {}],
      ['b', { user: 'bob' }],
      ['c', { user: 'eve', namespace: 'secret', queue: 'secret/q' }],
    ] as const) {
      const [row] = await tables.submit(fence, [submission(uid, over)]);
      await tables.allocate(fence, [{ uid, allocation: allocationOf(row!) }]);
      await tables.running(fence, [{ uid, startedAt: now - 3600 }]);
    }
    const all = (await ask<Usage>('usages', {}, PERIOD)).shares;
    expect(all.map(({ queue: name, user }) => user ?? name)).toEqual([
      'default',
      'ada',
      'bob',
      'secret/q',
      'eve',
    ]);
    const used = Object.fromEntries(all.map((line) => [line.user ?? line.queue, line]));
    expect(used.default!.usedShare).toBeCloseTo(2 / 3);
    // Two thirds of the usage with a quarter of the weight.
    expect(used.default!.factor).toBeCloseTo(2 ** -(2 / 3 / (1 / 4)));
    expect(used.ada!.usedShare).toBeCloseTo(1 / 2);
    const own = await ask<Usage>('usages', { namespace: 'science' }, PERIOD);
    expect(own.shares.map(({ queue: name, user }) => user ?? name)).toEqual(['default', 'ada']);
    expect(JSON.stringify(own)).not.toMatch(/secret|eve|bob/);
  });

  test.each([
    ['usages', { from: 'yesterday' }, 'query from: is not a date (got "yesterday"); write 2026-11-01'],
    [
      'usages',
      { by: 'queue,size' },
      'query by: is not a known key (got "size"); give one or more of: queue, namespace, user',
    ],
    ['traces', { until: '' }, 'query until: is not a date (got ""); write 2026-11-01'],
  ])('%s refuses %j with one sentence', async (resource, query, message) => {
    const error = await ask(resource, {}, query).catch((refused: FluxqError) => refused);
    expect(error).toMatchObject({ code: 'FLUXQ_QUERY_INVALID', retryable: false });
    expect((error as FluxqError).message).toContain(message);
  });

  test('a database that is down is said with one sentence', async () => {
    url = `postgres://fluxqueue@${NOBODY}/fluxqueue`;
    await expect(ask('histories', { namespace: 'science', name: 'x' })).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_DOWN',
      retryable: true,
    });
  });
});
