/** Applies the cases to both namespaces, waits until each has its outcome, and compares the two. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import type { Cluster, NodeShape } from '../cluster/cluster';
import { owned, placed } from '../stack/placed';
import type { Stack } from '../stack/stack';
import type { Case, Outcome } from './case';

type Place = 'plain' | 'queued';
const PLACES: readonly Place[] = ['plain', 'queued'];

export interface Comparison {
  readonly name: string;
  readonly plain: Outcome;
  readonly queued: Outcome;
  /** Fields that differ, each with its explanation, if it has one. */
  readonly different: Readonly<Partial<Record<keyof Outcome, string>>>;
  /** Why the queued workload waits, if it does. */
  readonly says: string;
}

const ZONE = 'topology.kubernetes.io/zone';
const resources = { 'example.com/fpga': '1', 'hugepages-2Mi': '1Gi', 'ephemeral-storage': '100Gi' };
const node = (rank: number, more: NodeShape = {}): NodeShape => ({
  cpu: '4',
  memory: '16Gi',
  gpus: 2,
  resources,
  labels: { [ZONE]: rank % 2 === 0 ? 'a' : 'b', rank: String(rank) },
  ...more,
});

function nodesOf({ tainted }: Case): readonly NodeShape[] {
  const nodes = [0, 1, 2, 3].map((rank) => node(rank));
  return tainted === undefined
    ? nodes
    : [...nodes, node(4, { taints: [{ ...tainted, effect: 'NoSchedule' }] })];
}

/** A CronJob starts within a minute; everything else has long ended by then. */
const SETTLE_MS = 150_000;
const POLL_MS = 2_000;

export async function compareAll(
  stack: Stack,
  cases: readonly Case[],
  print: (line: string) => void,
): Promise<readonly Comparison[]> {
  const { cluster } = stack;
  await stack.namespace('plain', false);
  await stack.namespace('queued');
  const shapes = PLACES.flatMap((place) =>
    cases.flatMap((each) => nodesOf(each).map((shape) => owned(shape, ownerOf(each, place)))),
  );
  await cluster.addNodesOf(shapes);
  print(`applying ${cases.length} manifests to each namespace`);
  for (const each of cases) for (const place of PLACES) await apply(cluster, each, place);
  const zones = await zonesOf(cluster);
  const outcomes = (place: Place) =>
    Promise.all(
      cases.map((each) =>
        settle(cluster, each, place, zones).then((outcome) => [each.name, outcome] as const),
      ),
    );
  const [plain, queued] = await Promise.all([outcomes('plain'), outcomes('queued')]);
  const reasons = await reasonsOf(cluster);
  return cases.map((each, i) => compare(each, plain[i]![1], queued[i]![1], reasons));
}

const ownerOf = ({ name }: Case, place: Place) => `${place}-${name}`;

async function apply(cluster: Cluster, each: Case, place: Place): Promise<void> {
  const owner = ownerOf(each, place);
  await cluster.apply(each.manifests(owner).map((manifest) => placed(manifest, place, owner)));
}

/** Waits for the expected outcome, and returns what came of it by then. */
async function settle(
  cluster: Cluster,
  each: Case,
  place: Place,
  zones: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const expected = { running: 0, succeeded: 0, failed: 0, ...each.expected };
  const isExpected = (outcome: Outcome) =>
    Object.entries(expected).every(([field, value]) => outcome[field as keyof Outcome] === value);
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const outcome = await outcomeOf(cluster, each, place, zones);
    if (isExpected(outcome) || performance.now() > deadline) return outcome;
    await delay(POLL_MS);
  }
}

async function outcomeOf(
  cluster: Cluster,
  { name }: Case,
  place: Place,
  zones: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const query = `labelSelector=${encodeURIComponent(`app=${name}`)}`;
  const { items } = await cluster.get<{ items: Pod[] }>(`${podPath(place)}?${query}`);
  const count = (phase: string) => items.filter(({ status }) => status?.phase === phase).length;
  const ran = items.filter(({ status }) => ['Running', 'Succeeded', 'Failed'].includes(status?.phase ?? ''));
  const nodes = new Set(ran.map(({ spec }) => spec.nodeName!));
  return {
    running: count('Running'),
    succeeded: count('Succeeded'),
    failed: count('Failed'),
    nodes: nodes.size,
    zones: new Set([...nodes].map((each) => zones.get(each))).size,
  };
}

async function zonesOf(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const { items } = await cluster.get<{ items: Pod[] }>(nodePath());
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.labels?.[ZONE] ?? '']));
}

interface Status {
  readonly phase?: string;
  readonly conditions?: readonly { readonly message: string }[];
}

/** What the FluxJobs of the queued namespace say, by their names. */
async function reasonsOf(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const path = '/apis/jobs.converged-computing.org/v1alpha1/namespaces/queued/fluxjobs';
  const { items } = await cluster.get<{ items: { metadata: { name: string }; status?: Status }[] }>(path);
  return new Map(
    items.map(({ metadata, status }) => [
      metadata.name,
      `${status?.phase}: ${status?.conditions?.[0]?.message}`,
    ]),
  );
}

/** Explains nodes and zones that no field of the manifest asks for. */
function unasked(field: keyof Outcome, plain: Outcome, queued: Outcome): string {
  if (field === 'nodes' && queued.nodes < plain.nodes)
    return 'no field asks for a number of nodes: the queue packs (matchPolicy lonode), kube-scheduler prefers to spread';
  if (field === 'zones')
    return 'no field asks for zones: the queue does not prefer any, kube-scheduler spreads';
  return '';
}

function compare(
  { name, expected, explained = {} }: Case,
  plain: Outcome,
  queued: Outcome,
  reasons: ReadonlyMap<string, string>,
): Comparison {
  const fields = Object.keys(plain) as (keyof Outcome)[];
  const different = fields
    .filter((field) => plain[field] !== queued[field])
    .map((field) => [field, explained[field] ?? (field in expected ? '' : unasked(field, plain, queued))]);
  const says = [...reasons]
    .filter(([fluxJob]) => fluxJob.startsWith(`${name}-`))
    .map((entry) => entry.join(' '));
  return { name, plain, queued, different: Object.fromEntries(different), says: says.join('; ') };
}
