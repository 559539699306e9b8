/** The in-memory model and the queue in Postgres get the same calls and must have the same rows, answers and event log. */
import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Adoption, Submission, WaitReason, WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import type { LoggedEvent } from '../invariants/observation';
import { allocationOf, changed, noting, submission } from '../queue/submission';
import { QueueModel } from './queue-model';

/** The queue, its fence, and its current rows. */
interface CallContext {
  readonly queue: Queue;
  readonly fence: number;
  readonly row: (uid: string) => WorkloadRow;
}

type Call = (context: CallContext) => Promise<unknown>;

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
  (uid: string, message = 'for another', end = 130): Call =>
  ({ queue, fence }) =>
    queue.requestEviction(fence, [{ uid, message, end }]);
const requeue =
  (uid: string, over: Partial<Parameters<Queue['requeue']>[1][0]> = {}): Call =>
  ({ queue, fence }) =>
    queue.requeue(fence, [{ uid, cause: 'failure', message: 'n-1 died', ...over }]);
const adopt =
  (...adoptions: readonly Adoption[]): Call =>
  ({ queue, fence }) =>
    queue.adopt(fence, adoptions);

/** Later than the clock of Postgres: new job ids of both queues follow these. */
const CARRIED = 2 ** 52;
/** @param carried beyond `CARRIED`; 0: it carries no job id */
const adoption = (uid: string, carried: number, over: Partial<Submission> = {}): Adoption => ({
  ...submission(uid, over),
  knownJobid: carried === 0 ? 0 : CARRIED + carried,
  releasedAt: 90,
  allocation: { start: 90, end: 150, nodes: [{ name: 'n-9', units: { core: '0-3' } }] },
});
/** The call with the fence of a former leader. */
const fenced =
  (call: Call): Call =>
  (context) =>
    call({ ...context, fence: context.fence - 1 });

const fourPods = submission('x', { pods: 4 });
const twoPods = submission('x', { pods: 2 });
const waitTwice =
  (uid: string, first: string, last: string): Call =>
  ({ queue, fence }) =>
    queue.wait(fence, [
      { uid, reason: 'Busy', message: first, estimatedStart: null },
      { uid, reason: 'Busy', message: last, estimatedStart: null },
    ]);
const note = (uid: string, notes: object): Call => update(uid, { jobspec: noting(notes) });

const CALLS: readonly (readonly [title: string, call: Call])[] = [
  ['submit', submit(submission('a'), submission('b', { priority: 5, pods: 2 }))],
  ['submit held', submit(submission('held', { held: true, after: [{ type: 'afterok', name: 'job-a' }] }))],
  ['submit known workloads with a new one', submit(submission('b'), submission('c'), submission('a'))],
  [
    'submit one workload twice in a call',
    submit(submission('d', { priority: 1 }), submission('d', { priority: 2 })),
  ],
  ['submit nothing', submit()],
  ['submit with an old fence', fenced(submit(submission('late')))],
  ['update nothing', update('a', {})],
  ['update priority', update('a', { priority: 3 })],
  [
    'update the requested resources',
    update('a', { pods: 4, jobspec: fourPods.jobspec, shape: fourPods.shape }),
  ],
  ['update the queue', update('c', { queue: 'other', preemptible: true })],
  ['update the dependencies', update('c', { after: [{ type: 'afterany', name: 'job-b' }] })],
  ['hold', update('c', { held: true })],
  ['update with an old fence', fenced(update('a', { priority: 4 }))],
  ['wait', wait('a', 'Busy')],
  ['wait with an estimate', wait('b', 'Reserved', 1_900_000_000.25)],
  ['wait twice in a call', waitTwice('b', 'first', 'last')],
  ['wait while held', wait('held', 'Busy')],
  ['wait with reason Held', wait('held', 'Held')],
  ['wait with reason GroupIncomplete', wait('held', 'GroupIncomplete')],
  ['wait of an unknown workload', wait('nobody', 'Busy')],
  ['wait with an old fence', fenced(wait('a', 'Unsatisfiable'))],
  ['allocate with an old fence', fenced(allocate('a'))],
  ['allocate a held workload', allocate('held')],
  [
    'allocate by an old job id',
    ({ queue, fence }) => queue.allocate(fence, [{ uid: 'a', allocation: allocationOf({ jobid: 999 }) }]),
  ],
  ['allocate several, one held', allocate('d', 'b', 'held', 'a')],
  ['allocate again', allocate('a')],
  ['update a granted workload', update('a', { priority: 9 })],
  ['wait of a granted workload', wait('a', 'Busy')],
  ['released', released('a', 'held')],
  ['released twice', released('a')],
  ['released with an old fence', fenced(released('b'))],
  ['running', running('a')],
  ['running twice', running('a', 106)],
  ['running before released', running('b')],
  ['running of a waiting workload', running('c')],
  ['running with an old fence', fenced(running('d'))],
  ['shrink', shrink('a', ['n-2', 'n-3'])],
  ['shrink to the same', shrink('a', ['n-2', 'n-3'])],
  ['shrink by an old job id', shrink('a', ['n-3'], 999)],
  ['shrink a waiting workload', shrink('c', ['n-1'])],
  ['shrink with an old fence', fenced(shrink('a', []))],
  ['request eviction', requestEviction('b')],
  ['request eviction again', requestEviction('b', 'for a third')],
  ['request eviction of a waiting workload', requestEviction('c')],
  ['request eviction with an old fence', fenced(requestEviction('a'))],
  ['requeue a preempted workload', requeue('b', { cause: 'preempted', message: 'preempted' })],
  ['requeue a waiting workload', requeue('b')],
  ['allocate the requeued workload', allocate('b')],
  ['requeue a suspended workload', requeue('b', { cause: 'suspended' })],
  ['allocate it a third time', allocate('b')],
  ['requeue after a failure', requeue('b', { notBefore: 1_900_000_000.5 })],
  [
    'update its resources while it backs off',
    update('b', { jobspec: twoPods.jobspec, shape: twoPods.shape }),
  ],
  ['allocate it before notBefore', allocate('b')],
  ['requeue with an old fence', fenced(requeue('b'))],
  ['requeue at the limit', requeue('b', { reason: 'RequeueLimit', notBefore: 5, message: 'too often' })],
  ['wait at the limit', wait('b', 'Busy')],
  ['wait with reason RequeueLimit', wait('b', 'RequeueLimit')],
  ['allocate at the limit', allocate('b')],
  ['update its resources at the limit', update('b', { jobspec: fourPods.jobspec, shape: fourPods.shape })],
  ['update its walltime at the limit', update('b', { walltime: 90 })],
  ['adopt new workloads, one of them twice', adopt(adoption('n', 0), adoption('m', 5000), adoption('n', 7))],
  [
    'adopt a waiting workload with a new one',
    adopt(adoption('o', 12), adoption('b', 0, { pods: 4, queue: 'other' })),
  ],
  ['adopt a held workload', adopt(adoption('held', 6000))],
  ['adopt running and granted workloads', adopt(adoption('a', 0), adoption('d', 0))],
  [
    'adopt a granted and a running workload that carry later grants',
    ({ queue, fence, row }) =>
      queue.adopt(
        fence,
        ['a', 'd'].map((uid) => ({ ...adoption(uid, 0), knownJobid: row(uid).jobid + 10 })),
      ),
  ],
  ['adopt with an old fence', fenced(adopt(adoption('late', 9000), adoption('c', 0)))],
  ['released of an adopted workload', released('n')],
  ['running of an adopted workload', running('m')],
  ['shrink an adopted workload', shrink('m', [])],
  ['requeue an adopted workload', requeue('n')],
  ['submit after the adoption', submit(submission('e'))],
  ['allocate it', allocate('e')],
  ['requeue it', requeue('e', { notBefore: 5 })],
  ['note a gang size of what an earlier version queued', note('e', { gangSize: 2 })],
  ['note the same gang size with something else', note('e', { gangSize: 2, labels: ['zone'] })],
  ['note another gang size', note('e', { gangSize: 3 })],
  ['note no gang size any more', note('e', { array: true })],
  ['note a gang size of an array', note('e', { gangSize: 4 })],
  ['release a held workload', update('c', { held: false })],
  ['finish a running workload', finish('a')],
  [
    'finish a granted workload that is to be evicted',
    async (context) => [
      await requestEviction('d', 'for another', 9_000)(context),
      await finish('d')(context),
    ],
  ],
  ['finish a waiting workload', finish('c', 'Cancelled')],
  ['finish an adopted workload', finish('m', 'TimedOut')],
  ['finish twice', finish('a', 'Cancelled')],
  ['finish with an old fence', fenced(finish('b'))],
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
  ).map(([title, call]) => [`${title} of a finished workload`, call] as const),
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

/** The workloads that are compared. */
const UIDS = ['a', 'b', 'c', 'd', 'e', 'held', 'm', 'n', 'o', 'late', 'nobody'];

/** Removes the allowed differences: times, and job ids, which may have gaps. */
class Normalizer {
  private readonly jobids = new Map<number, string>();

  of(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
      if (key === 'jobid') return this.jobids.get(Number(inner)) ?? inner;
      return BY_CLOCK.has(key) && inner !== null ? 'then' : inner;
    });
  }

  /** Names job ids by workload and count; a new job id must be higher than all known ones. */
  learn(rows: readonly WorkloadRow[]): void {
    const highest = Math.max(0, ...this.jobids.keys());
    for (const { uid, jobid } of rows) {
      const earlier = [...this.jobids.values()].filter((name) => name.startsWith(`${uid}:`));
      if (!this.jobids.has(jobid))
        this.jobids.set(jobid, `${uid}:${earlier.length}${jobid > highest ? '' : ', no new one'}`);
    }
  }
}

const BY_CLOCK: ReadonlySet<string> = new Set(['allocatedAt', 'releasedAt']);

/** Runs the calls on one of the two queues. */
class Player {
  private readonly normalizer = new Normalizer();
  private rows: readonly WorkloadRow[] = [];
  private seen = 0;

  constructor(
    private readonly queue: Queue,
    private readonly log: () => Promise<readonly Omit<LoggedEvent, 'at'>[]>,
    private readonly fence: number,
  ) {}

  /** Makes the call. @returns answer, rows and new events without the allowed differences */
  async play(call: Call): Promise<Readonly<Record<string, unknown>>> {
    const row = (uid: string) => this.rows.find((known) => known.uid === uid)!;
    const answer = await call({ queue: this.queue, fence: this.fence, row }).catch(({ code, retryable }) => ({
      code,
      retryable,
    }));
    this.rows = (await this.queue.byUid(UIDS)).toSorted((x, y) => x.seq - y.seq);
    this.normalizer.learn(this.rows);
    const events = (await this.log()).slice(this.seen);
    this.seen += events.length;
    const order = this.rows.map(({ uid }) => uid);
    const rows = this.rows.map(({ seq: _, ...rest }) => rest);
    const answered = JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
      key === 'seq' ? undefined : value,
    );
    return this.normalizer.of({ answer: answered, order, rows, events }) as Record<string, unknown>;
  }

  async summary(): Promise<unknown> {
    const { queue } = this;
    const names = UIDS.map((uid) => ({ namespace: 'science', name: `job-${uid}` }));
    const outcomes = (await queue.outcomes(names)).map(({ seq: _, jobid: __, ...rest }) => rest);
    return {
      active: (await queue.active()).map(({ uid }) => uid),
      finished: (await queue.finished()).toSorted((x, y) => x.queue.localeCompare(y.queue)),
      outcomes: outcomes.toSorted((x, y) => x.name.localeCompare(y.name)),
      usual: (await queue.usualParts()).toSorted((x, y) => x.user.localeCompare(y.user)),
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
    queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
    const logged = async () =>
      (await client.query<LoggedEvent>('SELECT uid, event, detail FROM fluxqueue.events ORDER BY id')).rows;
    inMemory = new QueueModel(() => 1_800_000_000);
    for (const each of [queue, inMemory]) await each.acquireFence('former-leader');
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

  test('answers every call as Postgres does', async () => {
    for (const [title, call] of CALLS)
      expect({ title, ...(await model.play(call)) }).toEqual({ title, ...(await real.play(call)) });
    expect(await model.summary()).toEqual(await real.summary());
    // All kinds of events must occur.
    expect([...new Set(inMemory.events.map(({ event }) => event))].toSorted()).toEqual(EVENTS);
  });
});
