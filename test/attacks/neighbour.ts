/**
 * Another tenant while the attacks of users are played and really stored: it submits a Job after each, together as much as the cluster
 * can run. Its Jobs may wait for each other; none may lose nodes that it was granted, or give up. As many Jobs at the same
 * distances after the last attack show how long they wait for each other alone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { quantile } from '../bench/statistics';
import type { KubeObject } from '../cluster/api';
import { type Act, type Attack, BETA, type Role } from './attack';
import { container, create, job } from './objects';
import type { World } from './world';

export interface NeighbourFigures {
  readonly jobs: number;
  /** How often they lost their nodes after the release. */
  readonly requeues: number;
  readonly requeueLimit: number;
  /** Jobs that did not succeed. */
  readonly failed: number;
  /** Seconds from a Job to its grant. */
  readonly waits: Waits;
  /** The same of as many Jobs at the same distances, without attacks. */
  readonly waitsAlone: Waits;
}

interface Waits {
  readonly p50: number;
  readonly p99: number;
}

/** The tokens of the stack are not those of another tenant. */
const TENANTS: ReadonlySet<Role> = new Set([
  'editor',
  'account',
  'colleague',
  'pod creator',
  'cluster creator',
  'job controller',
  'cronjob controller',
]);
/** The name of what most attacks create. */
const NAME = 'x';

/** Half of a node each: with the attackers' grants all nodes are in use. */
const HALF_A_NODE = { resources: { requests: { cpu: '4' } } };
const RUNS = { annotations: { 'fluxqueue.test/duration': '500ms' } };

export async function playBesideNeighbour(
  world: World,
  attacks: readonly Attack[],
): Promise<NeighbourFigures> {
  const stored = attacks.filter(({ role }) => TENANTS.has(role));
  const beside: string[] = [];
  const arrivals: number[] = [];
  for (const [i, attack] of stored.entries()) {
    const made = await store(world, attack, `${NAME}-${i}`);
    arrivals.push(performance.now());
    beside.push(await submit(world, `neighbour-${i}`));
    // It would run for as long as its walltime, and others would have no room.
    if (made !== undefined) await world.stack.cluster.api.send('DELETE', made);
  }
  const all = await ended(world, beside);
  const later = performance.now() - arrivals[0]!;
  const alone: string[] = [];
  for (const [i, at] of arrivals.entries()) {
    await pause(Math.max(0, at + later - performance.now()));
    alone.push(await submit(world, `alone-${i}`));
  }
  return {
    jobs: all.length,
    requeues: all.reduce((sum, { requeues }) => sum + requeues, 0),
    requeueLimit: all.filter(isLimited).length,
    failed: all.filter(({ result }) => result !== 'Succeeded').length,
    waits: waitsOf(all),
    waitsAlone: waitsOf(await ended(world, alone)),
  };
}

/** @returns the uid of the Job */
async function submit(world: World, name: string): Promise<string> {
  const act = create('Job', name, { spec: job({ containers: [container(HALF_A_NODE)] }, {}, RUNS) }, BETA);
  const { status, message, object } = await world.send('neighbour', act, 'stored');
  if (status >= 300) throw new Error(`${name}: ${message}`);
  return object.metadata.uid!;
}

/** @returns the path of what the attack made */
async function store(world: World, { role, act }: Attack, name: string): Promise<string | undefined> {
  const metadata = (act.body as KubeObject | undefined)?.metadata;
  const renamed: Act =
    metadata?.name === NAME
      ? {
          ...act,
          path: act.path.replace(new RegExp(`/${NAME}$`), `/${name}`),
          body: { ...act.body, metadata: { ...metadata, name } },
        }
      : act;
  const { status, object } = await world.send(role, renamed, 'stored');
  const isMade = act.verb === 'POST' && status === 201 && object.metadata?.name === name;
  return isMade ? `${renamed.path}/${name}?propagationPolicy=Background` : undefined;
}

async function ended(world: World, uids: readonly string[]): Promise<readonly WorkloadRow[]> {
  const queue = openQueue({ url: world.stack.postgres.url, units: DEFAULT_UNITS });
  try {
    return await world.stack.cluster.waitFor(
      'the Jobs of the neighbour to end',
      async () => {
        const rows = await queue.byUid(uids);
        const isOver = rows.every((row) => row.phase === 'Finished' || isLimited(row));
        return isOver && rows.length === uids.length && rows;
      },
      { timeoutMs: 600_000, everyMs: 1_000 },
    );
  } finally {
    await queue.close();
  }
}

function waitsOf(rows: readonly WorkloadRow[]): Waits {
  const seconds = rows.flatMap(({ allocatedAt, submittedAt }) =>
    allocatedAt === null ? [] : Math.max(0, Math.round(allocatedAt - submittedAt)),
  );
  return { p50: quantile(seconds, 0.5), p99: quantile(seconds, 0.99) };
}

const isLimited = ({ reason }: WorkloadRow): boolean => reason === 'RequeueLimit';
