/**
 * Another tenant while attacks are played and really stored: it submits a Job after each, together as much as the cluster
 * can run. Its Jobs may wait for each other; none may lose nodes that it was granted, or give up.
 */
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import type { KubeObject } from '../cluster/api';
import type { Attack } from './attack';
import { BETA } from './attack';
import { container, create, job, pathTo } from './objects';
import type { World } from './world';

type FluxJob = KubeObject & { readonly status?: FluxJobStatus };

export interface NeighbourFigures {
  readonly jobs: number;
  /** How often they lost their nodes after the release. */
  readonly requeues: number;
  readonly requeueLimit: number;
}

/** Half of a node each: with the attackers' grants all nodes are in use. */
const HALF_A_NODE = { resources: { requests: { cpu: '4' } } };
const RUNS = { annotations: { 'fluxqueue.test/duration': '500ms' } };

async function submit(world: World, name: string): Promise<void> {
  const act = create('Job', name, { spec: job({ containers: [container(HALF_A_NODE)] }, {}, RUNS) }, BETA);
  const { status, message } = await world.send('neighbour', act, 'stored');
  if (status >= 300) throw new Error(`${name}: ${message}`);
}

export async function playBesideNeighbour(
  world: World,
  attacks: readonly Attack[],
): Promise<NeighbourFigures> {
  const { cluster } = world.stack;
  const names: string[] = [];
  for (const { role, act } of attacks) {
    await world.send(role, act, 'stored');
    const name = `neighbour-${names.length}`;
    await submit(world, name);
    names.push(name);
  }
  const all: FluxJob[] = [];
  for (const name of names) {
    const at = pathTo('FluxJob', BETA, `${name}-job`);
    all.push(
      await cluster.waitFor(`the end of ${name}`, async () => {
        const found = await cluster.get<FluxJob>(at);
        const isOver = found.status?.phase === 'Finished' || limited(found);
        return isOver && found;
      }),
    );
  }
  return {
    jobs: all.length,
    requeues: all.reduce((sum, { status }) => sum + (status?.requeues ?? 0), 0),
    requeueLimit: all.filter(limited).length,
  };
}

function limited({ status }: FluxJob): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'RequeueLimit') === true;
}
