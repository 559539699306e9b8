/**
 * A walk through the schema of the apiserver: every field of a Job that waits, of one that runs, of a gated Pod and of one that runs is changed by
 * every kind of request and by several roles, also in subresources, as a dry run that passes admission like any other, and what would be stored is compared with what was
 * promised. A field that a new version of Kubernetes brings is part of it without anybody's doing.
 */
import * as LABELS from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import { ALPHA, type Role } from '../attack';
import { pathTo } from '../objects';
import type { World } from '../world';
import { type Mutation, Mutations, type Schemas } from './mutations';
import { broken, type Situation } from './promises';
import { requests, WAYS, type Way } from './requests';

interface Target {
  readonly kind: 'Job' | 'Pod';
  readonly name: string;
  readonly situation: Situation;
  /** @default - the object itself */
  readonly subresource?: Subresource;
}

const OBJECTS: readonly Target[] = [
  { kind: 'Job', name: 'waiting', situation: 'waiting' },
  { kind: 'Job', name: 'kueue', situation: 'waiting' },
  { kind: 'Job', name: 'paused', situation: 'waiting' },
  { kind: 'Job', name: 'running', situation: 'started' },
  { kind: 'Job', name: 'indexed', situation: 'started' },
  { kind: 'Pod', name: 'gated', situation: 'gated' },
  { kind: 'Pod', name: 'released', situation: 'released' },
];

type Subresource = 'status' | 'resize' | 'ephemeralcontainers';
/** What is changed by each; the rest of the object is ignored there, or refused. */
const CHANGED: Readonly<Record<Subresource, RegExp>> = {
  status: /^metadata\./,
  resize: /^(metadata|spec\.resources|spec\.(initC|c)ontainers)\./,
  ephemeralcontainers: /^(metadata|spec\.ephemeralContainers)\./,
};
const SUBRESOURCES: readonly Target[] = OBJECTS.flatMap((target) => {
  const names = Object.keys(CHANGED) as Subresource[];
  return names
    .filter((name) => target.kind === 'Pod' || name === 'status')
    .map((subresource) => ({ ...target, subresource }));
});

interface Tour {
  readonly role: Role;
  readonly targets: readonly Target[];
  /** One of so many changes. */
  readonly every: number;
}

/** Who has the rights of `edit` is asked everything; of others a part shows that nobody is trusted for what he is. */
const TOURS: readonly Tour[] = [
  { role: 'editor', targets: OBJECTS, every: 1 },
  { role: 'colleague', targets: SUBRESOURCES, every: 1 },
  { role: 'account', targets: OBJECTS, every: 8 },
  { role: 'pod creator', targets: OBJECTS.filter(({ kind }) => kind === 'Pod'), every: 8 },
];
const SCHEMAS = {
  Job: ['/openapi/v3/apis/batch/v1', 'io.k8s.api.batch.v1.Job'],
  Pod: ['/openapi/v3/api/v1', 'io.k8s.api.core.v1.Pod'],
} as const;
const KEYS = Object.values(LABELS).filter((text) =>
  /^(fluxqueue|flux-framework\.org|kueue\.x-k8s\.io|batch\.kubernetes\.io)\//.test(text),
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
  const schemas = { Job: await schemasOf(world, 'Job'), Pod: await schemasOf(world, 'Pod') };
  for (const tour of TOURS)
    for (const target of tour.targets) {
      const before = await world.stack.cluster.get<KubeObject>(pathTo(target.kind, ALPHA, target.name));
      const at = pathTo(target.kind, ALPHA, target.name, target.subresource);
      const one = async ({ path, object }: Mutation, way: Way) => {
        const { status, object: after } = await world.send(
          tour.role,
          requests(at, before, object, path)[way],
        );
        figures.requests += 1;
        if (status >= 300) return;
        figures.accepted += 1;
        for (const promise of broken(target.situation, before, after))
          found.push(`${tour.role}: ${at}, ${way} of ${path.join('.')}: not "${promise}"`);
      };
      const tasks = tasksOf(schemas[target.kind], target, before);
      const step = every * tour.every;
      await inParallel(tasks.filter((_, i) => i % step === from % step).map((task) => () => one(...task)));
    }
  return { ...figures, broken: found };
}

async function schemasOf(world: World, kind: Target['kind']): Promise<Schemas> {
  const [path] = SCHEMAS[kind];
  const { components } = await world.stack.cluster.get<{ components: { schemas: Schemas } }>(path);
  return components.schemas;
}

function tasksOf(
  schemas: Schemas,
  { kind, subresource }: Target,
  before: KubeObject,
): readonly [Mutation, Way][] {
  const [, root] = SCHEMAS[kind];
  const mutations = new Mutations(schemas, KEYS);
  const single = [...mutations.of(before, root)].flatMap((mutation) =>
    WAYS.map((way) => [mutation, way] as [Mutation, Way]),
  );
  if (subresource !== undefined)
    return single.filter(([mutation]) => CHANGED[subresource].test(mutation.path.join('.')));
  const pairs = [...mutations.pairs(before, root), ...mutations.disguised(before, root)].map(
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
