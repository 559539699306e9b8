/**
 * A walk through the schema of the apiserver: every field of a Job that waits, of one that runs and of a gated Pod is changed by
 * every kind of request, as a dry run that passes admission like any other, and what would be stored is compared with what was
 * promised. A field that a new version of Kubernetes brings is part of it without anybody's doing.
 */
import * as LABELS from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import { ALPHA } from '../attack';
import { pathTo } from '../objects';
import type { World } from '../world';
import { type Mutation, Mutations, type Schemas } from './mutations';
import { broken, type Situation } from './promises';
import { requests, type Way } from './requests';

interface Target {
  readonly kind: 'Job' | 'Pod';
  readonly name: string;
  readonly situation: Situation;
}

const TARGETS: readonly Target[] = [
  { kind: 'Job', name: 'waiting', situation: 'waiting' },
  { kind: 'Job', name: 'kueue', situation: 'waiting' },
  { kind: 'Job', name: 'running', situation: 'started' },
  { kind: 'Job', name: 'indexed', situation: 'started' },
  { kind: 'Pod', name: 'gated', situation: 'gated' },
];
const SCHEMAS = {
  Job: ['/openapi/v3/apis/batch/v1', 'io.k8s.api.batch.v1.Job'],
  Pod: ['/openapi/v3/api/v1', 'io.k8s.api.core.v1.Pod'],
} as const;
const KEYS = Object.values(LABELS).filter((text) =>
  /^(fluxqueue|flux-framework\.org|kueue\.x-k8s\.io)\//.test(text),
);
/** Requests at the same time. */
const IN_FLIGHT = 16;

export interface Walked {
  readonly requests: number;
  /** Those that the apiserver would have stored. */
  readonly accepted: number;
  /** One sentence for each request that breaks a promise. */
  readonly broken: readonly string[];
}

/** @param every only each one of so many changes, another part for each number `from`. @default - all */
export async function walk(world: World, { every = 1, from = 0 } = {}): Promise<Walked> {
  const figures = { requests: 0, accepted: 0 };
  const found: string[] = [];
  for (const target of TARGETS) {
    const at = pathTo(target.kind, ALPHA, target.name);
    const before = await world.stack.cluster.get<KubeObject>(at);
    const one = async ({ path, object }: Mutation, way: Way) => {
      const { status, object: after } = await world.send('editor', requests(at, before, object, path)[way]);
      figures.requests += 1;
      if (status >= 300) return;
      figures.accepted += 1;
      for (const promise of broken(target.situation, before, after))
        found.push(`${target.kind} ${target.name}, ${way} of ${path.join('.')}: not "${promise}"`);
    };
    const tasks = await tasksOf(world, target, before);
    await inParallel(tasks.filter((_, i) => i % every === from % every).map((task) => () => one(...task)));
  }
  return { ...figures, broken: found };
}

async function tasksOf(
  world: World,
  { kind }: Target,
  before: KubeObject,
): Promise<readonly [Mutation, Way][]> {
  const [path, root] = SCHEMAS[kind];
  const { components } = await world.stack.cluster.get<{ components: { schemas: Schemas } }>(path);
  const mutations = new Mutations(components.schemas, KEYS);
  const single = [...mutations.of(before, root)].flatMap((mutation) =>
    (['merge patch', 'JSON patch', 'apply', 'replace'] as const).map(
      (way) => [mutation, way] as [Mutation, Way],
    ),
  );
  const pairs = [...mutations.pairs(before, root)].map(
    (mutation) => [mutation, 'merge patch'] as [Mutation, Way],
  );
  return [...single, ...pairs];
}

async function inParallel(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const rest = tasks.values();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (const task of rest) await task();
    }),
  );
}
