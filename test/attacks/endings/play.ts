/**
 * Makes targets, has their user end them in every way of moves.ts, really, and looks at what becomes of their pods and of their
 * grants. Many cases go on at once: a Job of a neighbour that is submitted after the last move, and ends, says that the controllers
 * have had their turn.
 */
import { JOB_TRACKING_FINALIZER } from '../../../constructs/api/job-controller';
import { GROUP_MEMBER_ANNOTATION, JOBID_ANNOTATION } from '../../../constructs/api/labels';
import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import type { Pod } from '../../../runtime/kubernetes/types';
import { openQueue } from '../../../runtime/queue/queue';
import type { Queue } from '../../../runtime/queue/store';
import { isTerminal } from '../../../runtime/workloads/adapter';
import type { KubeObject } from '../../cluster/api';
import { ALPHA, BETA } from '../attack';
import { create, job, pathTo } from '../objects';
import type { World } from '../world';
import { brokenBy, workloadOf } from './judge';
import { type Live, type Move, movesOf } from './moves';
import { TARGETS, type Target } from './targets';

export interface Ended {
  /** Cases that were played. */
  readonly cases: number;
  readonly requests: number;
  readonly accepted: number;
  /** One sentence for each case that breaks a promise. */
  readonly broken: readonly string[];
}

interface Case {
  readonly name: string;
  readonly target: Target;
  readonly move: Move;
}

/** Cases that go on at once: their pods have room for one another. */
const AT_ONCE = 48;
const STUCK = 'fluxqueue.test/stuck';

/** All of them; the targets take turns, so that each part has some of each. */
export function casesOf(): readonly Case[] {
  const all = TARGETS.map((target) => movesOf(target).map((move) => ({ target, move })));
  const most = Math.max(...all.map(({ length }) => length));
  return Array.from({ length: most }, (_, i) => all.flatMap((of) => of[i] ?? []))
    .flat()
    .map((one, i) => ({ ...one, name: `end-${i}` }));
}

/** Only each one of so many cases, another part for each number `from`. */
export function partOf(every: number, from: number): readonly Case[] {
  return casesOf().filter((_, i) => i % every === from % every);
}

export async function playEndings(world: World, cases = casesOf()): Promise<Ended> {
  const queue = openQueue({ url: world.stack.postgres.url, units: DEFAULT_UNITS });
  const player = new Player(world, queue);
  try {
    for (let from = 0; from < cases.length; from += AT_ONCE)
      await player.play(cases.slice(from, from + AT_ONCE));
    const { requests, accepted, broken } = player;
    return { cases: cases.length, requests, accepted, broken };
  } finally {
    await queue.close();
  }
}

class Player {
  requests = 0;
  accepted = 0;
  readonly broken: string[] = [];
  private rounds = 0;

  constructor(
    private readonly world: World,
    private readonly queue: Pick<Queue, 'byUid'>,
  ) {}

  async play(cases: readonly Case[]): Promise<void> {
    const live = await Promise.all(cases.map((one) => this.start(one)));
    await Promise.all(cases.map((one, i) => this.move(one, live[i]!)));
    await Promise.all(cases.map((one, i) => this.end(one, live[i]!)));
    await this.haveTurn();
    const pods = await this.pods();
    const uids = [...new Set(pods.map(workloadOf))];
    const rows = new Map((await this.queue.byUid(uids)).map((row) => [row.uid, row]));
    for (const [i, one] of cases.entries()) {
      const before = { life: one.target.life, uids: live[i]!.pods.map(({ metadata }) => metadata.uid!) };
      const found = { pods: pods.filter(isOf(one)), rowOf: (uid: string) => rows.get(uid) };
      for (const promise of brokenBy(before, found))
        this.broken.push(`${one.target.name}, ${one.move.name}: not "${promise}"`);
    }
    await this.clean(cases);
  }

  private async start({ name, target }: Case): Promise<Live> {
    const { cluster } = this.world.stack;
    for (const act of target.make(name)) {
      const { status, message } = await this.world.send('editor', act, 'stored');
      if (status !== 201) throw new Error(`${target.name}: ${message}`);
    }
    const running = (pod: Pod) =>
      target.life === 'ended' ? isTerminal(pod) : pod.status?.phase === 'Running';
    const pods =
      target.pods === 0
        ? []
        : await cluster.waitFor(`the pods of ${name}, ${target.name}`, async () => {
            const found = (await this.pods()).filter(isOf({ name })).filter(running);
            return found.length >= target.pods && found;
          });
    if (target.life === 'waits')
      await cluster.waitFor(`the record of ${name}`, () =>
        cluster.get(pathTo('FluxJob', ALPHA, `${name}-${target.kind.toLowerCase()}`)),
      );
    const object = await cluster.get<KubeObject>(pathTo(target.kind, ALPHA, name));
    return { name, target, object, pods: pods as unknown as readonly KubeObject[] };
  }

  private async move({ move }: Case, live: Live): Promise<void> {
    for (const act of move.acts(live)) {
      const { status } = await this.world.send('editor', act, 'stored');
      this.requests += 1;
      if (status < 300) this.accepted += 1;
    }
  }

  /** The kubelet says of its pods that they have succeeded, but of those that are deleted or gone. */
  private async end({ name, target }: Case, { pods }: Live): Promise<void> {
    if (target.life !== 'ends') return;
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const running = (await this.pods()).filter(
      (pod) => uids.has(pod.metadata.uid) && !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined,
    );
    for (const { metadata } of running) {
      const path = pathTo('Pod', ALPHA, metadata.name, 'status');
      const body = { metadata: { uid: metadata.uid }, status: { phase: 'Succeeded' } };
      const { api } = this.world.stack.cluster;
      const { status, text } = await api.send('PATCH', path, body, 'application/merge-patch+json');
      if (![200, 404, 409].includes(status)) throw new Error(`the end of ${name}: ${text}`);
    }
  }

  /** What happened before the submission of this Job has been seen when it has ended. */
  private async haveTurn(): Promise<void> {
    const { cluster } = this.world.stack;
    const name = `turn-${this.rounds++}`;
    const runs = { annotations: { 'fluxqueue.test/duration': '2s' } };
    const { status, message } = await this.world.send(
      'neighbour',
      create('Job', name, { spec: job({}, {}, runs) }, BETA),
      'stored',
    );
    if (status !== 201) throw new Error(message);
    await cluster.waitFor(`the end of ${name}`, async () => {
      const found = await cluster.get<{ status?: { succeeded?: number } }>(pathTo('Job', BETA, name));
      return found.status?.succeeded === 1;
    });
  }

  /** The administrator deletes what is left, and the kubelets say that it has ended. */
  private async clean(cases: readonly Case[]): Promise<void> {
    const { cluster } = this.world.stack;
    const send = (path: string, verb: 'PATCH' | 'DELETE', body: object) =>
      cluster.api.send(verb, path, body, 'application/merge-patch+json');
    for (const { name, target } of cases) {
      const path = pathTo(target.kind, ALPHA, name);
      await cluster.api.send('DELETE', `${path}?propagationPolicy=Background`);
      await send(path, 'PATCH', { metadata: { finalizers: null } });
    }
    await cluster.waitFor('the end of the cases', async () => {
      const left = (await this.pods()).filter((pod) => cases.some((one) => isOf(one)(pod)));
      for (const { metadata } of left) {
        const path = pathTo('Pod', ALPHA, metadata.name);
        // That of a Job only the Job controller removes.
        const { annotations = {} } = metadata;
        const isOfJob = JOBID_ANNOTATION in annotations && !(GROUP_MEMBER_ANNOTATION in annotations);
        const given = (metadata as { finalizers?: readonly string[] }).finalizers ?? [];
        const finalizers = given.filter((one) => isOfJob && one === JOB_TRACKING_FINALIZER);
        await send(path, 'PATCH', { metadata: { finalizers, annotations: { [STUCK]: null } } });
        await cluster.api.send('DELETE', path);
      }
      const texts = left.map(({ metadata, status }) =>
        JSON.stringify([metadata.name, status?.phase, metadata]),
      );
      if (texts.length > 0) throw new Error(`left: ${texts.join(', ').slice(0, 2000)}`);
      return true;
    });
  }

  private async pods(): Promise<readonly Pod[]> {
    const { items } = await this.world.stack.cluster.get<{ items: readonly Pod[] }>(pathTo('Pod', ALPHA));
    return items;
  }
}

/** Pods of controllers have the name of their owner and a hyphen. */
function isOf({ name }: Pick<Case, 'name'>): (pod: Pod) => boolean {
  return ({ metadata }) => metadata.name === name || metadata.name.startsWith(`${name}-`);
}
