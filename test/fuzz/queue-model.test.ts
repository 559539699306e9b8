/** The model of the queue and the queue in Postgres, played the same calls: rows, answers and event log come out alike. */
import { Client } from 'pg';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Adoption, Submission, WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import type { LoggedEvent } from '../invariants/observation';
import { allocationOf, changed, submission } from '../queue/submission';
import { QueueModel } from './queue-model';

/** What a call is made with: the queue, its fence, and a row as it is. */
interface QueueBudget {
  readonly queue: Queue;
  readonly fence: number;
  readonly row: (uid: string) => WorkloadRow;
}

type Call = (turn: QueueBudget) => Promise<unknown>;

const submit =
  (...submissions: readonly Submission[]): Call =>
  ({ queue, fence }) =>
    queue.submit(fence, submissions);
const update =
  (uid: string, over: Parameters<typeof changed>[1]): Call =>
  ({ queue, fence, row }) =>
    queue.update(fence, [changed(row(uid), over)]);
const wait =
  (uid: string, reason: WaitReason, estimatedStart: number | null = null): Call =>
  ({ queue, fence }) =>
    queue.wait(fence, [{ uid, reason, message: `it is ${reason}`, estimatedStart }]);
const allocate =
  (...uids: readonly string[]): Call =>
  ({ queue, fence, row }) =>
    queue.allocate(
      fence,
      uids.map((uid) => ({ uid, allocation: allocationOf(row(uid), ['n-1', 'n-2', 'n-3']) })),
    );
const shrink =
  (uid: string, nodes: string[], jobid?: number): Call =>
  ({ queue, fence, row }) =>
    queue.shrink(fence, [{ uid, allocation: allocationOf({ jobid: jobid ?? row(uid).jobid }, nodes) }]);
const released =
  (...uids: readonly string[]): Call =>
  ({ queue, fence }) =>
    queue.released(fence, uids);
const running =
  (uid: string, startedAt = 105.5): Call =>
  ({ queue, fence }) =>
    queue.running(fence, [{ uid, startedAt }]);
const finish =
  (uid: string, result: 'Succeeded' | 'Cancelled' | 'TimedOut' = 'Succeeded'): Call =>
  ({ queue, fence }) =>
    queue.finish(fence, [{ uid, result, finishedAt: 120.25 }]);
const requestEviction =
  (uid: string, message = 'for another'): Call =>
  ({ queue, fence }) =>
    queue.requestEviction(fence, [{ uid, message }]);
const requeue =
  (uid: string, over: Partial<Parameters<Queue['requeue']>[1][0]> = {}): Call =>
  ({ queue, fence }) =>
    queue.requeue(fence, [{ uid, cause: 'failure', message: 'n-1 died', ...over }]);
const adopt =
  (...adoptions: readonly Adoption[]): Call =>
  ({ queue, fence }) =>
    queue.adopt(fence, adoptions);

const adoption = (uid: string, knownJobid: number, over: Partial<Submission> = {}): Adoption => ({
  ...submission(uid, over),
  knownJobid,
  allocation: { start: 90, end: 150, nodes: [{ name: 'n-9', units: { core: '0-3' } }] },
});
/** The call with the fence of a leader that has been overtaken. */
const overtaken =
  (call: Call): Call =>
  (turn) =>
    call({ ...turn, fence: turn.fence - 1 });

const four = submission('x', { pods: 4 });
const both =
  (uid: string, first: string, last: string): Call =>
  ({ queue, fence }) =>
    queue.wait(fence, [
      { uid, reason: 'Busy', message: first, estimatedStart: null },
      { uid, reason: 'Busy', message: last, estimatedStart: null },
    ]);

const PLAY: readonly (readonly [title: string, call: Call])[] = [
  ['submit', submit(submission('a'), submission('b', { priority: 5, pods: 2 }))],
  ['submit held', submit(submission('held', { held: true, after: [{ type: 'afterok', name: 'job-a' }] }))],
  ['submit known ones with a new one', submit(submission('b'), submission('c'), submission('a'))],
  ['submit one twice at once', submit(submission('d', { priority: 1 }), submission('d', { priority: 2 }))],
  ['submit nothing', submit()],
  ['submit, overtaken', overtaken(submit(submission('late')))],
  ['update nothing', update('a', {})],
  ['update priority', update('a', { priority: 3 })],
  ['update what it asks for', update('a', { pods: 4, jobspec: four.jobspec, shape: four.shape })],
  ['update its queue', update('c', { queue: 'other', preemptible: true })],
  ['update what it waits for', update('c', { after: [{ type: 'afterany', name: 'job-b' }] })],
  ['hold', update('c', { held: true })],
  ['update, overtaken', overtaken(update('a', { priority: 4 }))],
  ['wait', wait('a', 'Busy')],
  ['wait with an estimate', wait('b', 'Reserved', 1_900_000_000.25)],
  ['wait twice at once', both('b', 'first', 'last')],
  ['wait while held', wait('held', 'Busy')],
  ['wait as held', wait('held', 'Held')],
  ['wait of nobody', wait('nobody', 'Busy')],
  ['wait, overtaken', overtaken(wait('a', 'Unsatisfiable'))],
  ['allocate, overtaken', overtaken(allocate('a'))],
  ['allocate what is held', allocate('held')],
  [
    'allocate by an old job id',
    ({ queue, fence }) => queue.allocate(fence, [{ uid: 'a', allocation: allocationOf({ jobid: 999 }) }]),
  ],
  ['allocate several, one held', allocate('d', 'b', 'held', 'a')],
  ['allocate once more', allocate('a')],
  ['update what is granted', update('a', { priority: 9 })],
  ['wait of what is granted', wait('a', 'Busy')],
  ['released', released('a', 'held')],
  ['released twice', released('a')],
  ['released, overtaken', overtaken(released('b'))],
  ['running', running('a')],
  ['running twice', running('a', 106)],
  ['running without a word of its release', running('b')],
  ['running of what waits', running('c')],
  ['running, overtaken', overtaken(running('d'))],
  ['shrink', shrink('a', ['n-2', 'n-3'])],
  ['shrink to the same', shrink('a', ['n-2', 'n-3'])],
  ['shrink by an old job id', shrink('a', ['n-3'], 999)],
  ['shrink what waits', shrink('c', ['n-1'])],
  ['shrink, overtaken', overtaken(shrink('a', []))],
  ['request eviction', requestEviction('b')],
  ['request eviction again', requestEviction('b', 'for a third')],
  ['request eviction of what waits', requestEviction('c')],
  ['request eviction, overtaken', overtaken(requestEviction('a'))],
  ['requeue what was taken back', requeue('b', { cause: 'preempted', message: 'taken back' })],
  ['requeue what waits', requeue('b')],
  ['grant it again', allocate('b')],
  ['requeue what its user suspended', requeue('b', { cause: 'suspended' })],
  ['grant it a third time', allocate('b')],
  ['requeue after a failure', requeue('b', { notBefore: 1_900_000_000.5 })],
  ['grant it, whatever the time', allocate('b')],
  ['requeue, overtaken', overtaken(requeue('b'))],
  ['requeue at the limit', requeue('b', { reason: 'RequeueLimit', notBefore: 5, message: 'too often' })],
  ['wait at the limit', wait('b', 'Busy')],
  ['wait as limited', wait('b', 'RequeueLimit')],
  ['allocate at the limit', allocate('b')],
  ['its nodes change at the limit', update('b', { jobspec: four.jobspec, shape: four.shape })],
  ['its user changes it at the limit', update('b', { walltime: 90 })],
  [
    'adopt new ones, given with one known twice',
    adopt(adoption('n', 0), adoption('m', 5000), adoption('n', 7)),
  ],
  [
    'adopt what waits, with a new one',
    adopt(adoption('o', 12), adoption('b', 0, { pods: 4, queue: 'other' })),
  ],
  ['adopt what is held', adopt(adoption('held', 6000))],
  ['adopt what runs or is granted', adopt(adoption('a', 0), adoption('d', 0))],
  ['adopt, overtaken', overtaken(adopt(adoption('late', 9000), adoption('c', 0)))],
  ['released of what was adopted', released('n')],
  ['running of what was adopted', running('m')],
  ['shrink what was adopted', shrink('m', [])],
  ['requeue what was adopted', requeue('n')],
  ['submit after the adoption', submit(submission('e'))],
  ['let go of what was held', update('c', { held: false })],
  ['finish what runs', finish('a')],
  [
    'finish what is granted and to be evicted',
    async (turn) => [await requestEviction('d')(turn), await finish('d')(turn)],
  ],
  ['finish what waits', finish('c', 'Cancelled')],
  ['finish what was adopted', finish('m', 'TimedOut')],
  ['finish twice', finish('a', 'Cancelled')],
  ['finish, overtaken', overtaken(finish('b'))],
  ...(
    [
      ['update', update('a', { priority: 1 })],
      ['wait', wait('a', 'Busy')],
      ['allocate', allocate('a')],
      ['released', released('a')],
      ['running', running('a')],
      ['shrink', shrink('a', [])],
      ['request eviction', requestEviction('a')],
      ['requeue', requeue('a')],
      ['adopt', adopt(adoption('a', 0))],
      ['submit', submit(submission('a'))],
    ] as const
  ).map(([title, call]) => [`${title} of what is over`, call] as const),
];

const EVENTS = [
  'Adopted',
  'Allocated',
  'EvictionRequested',
  'Finished',
  'Leader',
  'Reallocated',
  'Released',
  'Requeued',
  'Running',
  'Submitted',
  'Updated',
  'Waiting',
];

/** Of whom everything is compared. */
const UIDS = ['a', 'b', 'c', 'd', 'e', 'held', 'm', 'n', 'o', 'late', 'nobody'];

/** What the two may differ in: the clock, and how many job ids were spent in between. */
class Normal {
  private readonly jobids = new Map<number, string>();

  of(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
      if (key === 'jobid') return this.jobids.get(Number(inner)) ?? inner;
      return BY_CLOCK.has(key) && inner !== null ? 'then' : inner;
    });
  }

  /** Job ids are called by whose they are and which of his; a new one has to be higher than all that were known. */
  learn(rows: readonly WorkloadRow[]): void {
    const highest = Math.max(0, ...this.jobids.keys());
    for (const { uid, jobid } of rows) {
      const his = [...this.jobids.values()].filter((name) => name.startsWith(`${uid}:`));
      if (!this.jobids.has(jobid))
        this.jobids.set(jobid, `${uid}:${his.length}${jobid > highest ? '' : ', no new one'}`);
    }
  }
}

const BY_CLOCK: ReadonlySet<string> = new Set(['allocatedAt', 'releasedAt']);

/** One of the two, played call by call. */
class Player {
  private readonly normal = new Normal();
  private rows: readonly WorkloadRow[] = [];
  private seen = 0;

  constructor(
    private readonly queue: Queue,
    private readonly log: () => Promise<readonly Omit<LoggedEvent, 'at'>[]>,
    private readonly fence: number,
  ) {}

  /** Answer, rows and new events, in words that both share. */
  async play(call: Call): Promise<Readonly<Record<string, unknown>>> {
    const row = (uid: string) => this.rows.find((known) => known.uid === uid)!;
    const answer = await call({ queue: this.queue, fence: this.fence, row }).catch(({ code, retryable }) => ({
      code,
      retryable,
    }));
    this.rows = (await this.queue.byUid(UIDS)).toSorted((x, y) => x.seq - y.seq);
    this.normal.learn(this.rows);
    const events = (await this.log()).slice(this.seen);
    this.seen += events.length;
    const order = this.rows.map(({ uid }) => uid);
    const rows = this.rows.map(({ seq: _, ...rest }) => rest);
    const answered = JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
      key === 'seq' ? undefined : value,
    );
    return this.normal.of({ answer: answered, order, rows, events }) as Record<string, unknown>;
  }

  async summary(): Promise<unknown> {
    const { queue } = this;
    const names = UIDS.map((uid) => ({ namespace: 'science', name: `job-${uid}` }));
    const outcomes = (await queue.outcomes(names)).map(({ seq: _, ...rest }) => rest);
    return {
      active: (await queue.active()).map(({ uid }) => uid),
      finished: (await queue.finished()).toSorted((x, y) => x.queue.localeCompare(y.queue)),
      outcomes: outcomes.toSorted((x, y) => x.name.localeCompare(y.name)),
    };
  }
}

describePostgres('the model of the queue', (getPostgres) => {
  let client: Client;
  let queue: Queue;
  let real: Player;
  let inMemory: QueueModel;
  let model: Player;

  beforeEach(async () => {
    const url = await getPostgres().freshDatabase();
    client = new Client({ connectionString: url });
    await client.connect();
    queue = openQueue({ url });
    await queue.migrate();
    const logged = async () =>
      (await client.query<LoggedEvent>('SELECT uid, event, detail FROM fluxqueue.events ORDER BY id')).rows;
    inMemory = new QueueModel(() => 1_800_000_000);
    for (const each of [queue, inMemory]) await each.acquireFence('overtaken');
    real = new Player(queue, logged, await queue.acquireFence('leader'));
    model = new Player(
      inMemory,
      async () => inMemory.events.map(({ uid, event, detail }) => ({ uid, event, detail })),
      await inMemory.acquireFence('leader'),
    );
  });
  afterEach(async () => {
    await client.end();
    await queue.close();
  });

  test('answers as Postgres does, call by call', async () => {
    for (const [title, call] of PLAY)
      expect({ title, ...(await model.play(call)) }).toEqual({ title, ...(await real.play(call)) });
    expect(await model.summary()).toEqual(await real.summary());
    // It is no test if nothing happens.
    expect([...new Set(inMemory.events.map(({ event }) => event))].toSorted()).toEqual(EVENTS);
  });
});
