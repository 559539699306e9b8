/** Applies the cases to both namespaces, waits until each has its outcome, and compares the two. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import type { Cluster, NodeShape } from '../cluster/cluster';
import { owned, placed } from '../stack/placed';
import type { Stack } from '../stack/stack';
import type { Case, Outcome, Step } from './case';

type Place = 'plain' | 'queued';
const PLACES: readonly Place[] = ['plain', 'queued'];

export interface Comparison {
  readonly name: string;
  readonly plain: Outcome;
  readonly queued: Outcome;
  /** Fields that differ, each with its explanation, if it has one. */
  readonly different: Readonly<Partial<Record<keyof Outcome, string>>>;
  /** Whether the plain one came to what its case says; else the case is wrong, or its time was too short. */
  readonly isExpected: boolean;
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
  for (const place of PLACES)
    for (const namespace of new Set(cases.map((each) => namespaceOf(each, place))))
      await stack.namespace(namespace, place === 'queued');
  const shapes = PLACES.flatMap((place) =>
    cases.flatMap((each) => nodesOf(each).map((shape) => owned(shape, ownerOf(each, place)))),
  );
  await cluster.addNodesOf(shapes);
  print(`applying ${cases.length} manifests to each namespace`);
  for (const each of cases) for (const place of PLACES) await prepare(cluster, each, place);
  for (const each of cases) for (const place of PLACES) await untilPrepared(cluster, each, place);
  for (const each of cases) for (const place of PLACES) await apply(cluster, each, place);
  const zones = await zonesOf(cluster);
  const outcomes = (place: Place) => Promise.all(cases.map((each) => play(cluster, each, place, zones)));
  const [plain, queued] = await Promise.all([outcomes('plain'), outcomes('queued')]);
  const reasons = await reasonsOf(cluster);
  return cases.map((each, i) => compare(each, plain[i]!, queued[i]!, reasons));
}

const ownerOf = ({ name }: Case, place: Place) => `${place}-${name}`;

const namespaceOf = ({ name, before }: Case, place: Place) =>
  before === undefined ? place : `${place}-${name}`;

async function apply(cluster: Cluster, each: Case, place: Place): Promise<void> {
  const owner = ownerOf(each, place);
  const namespace = namespaceOf(each, place);
  await cluster.apply(each.manifests(owner).map((manifest) => placed(manifest, namespace, owner)));
}

async function prepare(cluster: Cluster, each: Case, place: Place): Promise<void> {
  const namespace = namespaceOf(each, place);
  const objects = each.before?.(namespace) ?? [];
  await cluster.apply(objects.map((object) => placed(object, namespace)));
}

/** The apiserver enforces a quota from when its status is written, and a policy some moments after it was stored. */
async function untilPrepared(cluster: Cluster, each: Case, place: Place): Promise<void> {
  const namespace = namespaceOf(each, place);
  for (const { kind, metadata } of each.before?.(namespace) ?? []) {
    if (kind === 'ResourceQuota')
      await cluster.waitFor('the quota', async () => {
        const path = `/api/v1/namespaces/${namespace}/resourcequotas/${metadata.name}`;
        return (await cluster.get<{ status?: { hard?: object } }>(path)).status?.hard;
      });
    if (kind === 'MutatingAdmissionPolicy')
      await cluster.waitFor('the policy', () => addsContainer(cluster, namespace));
  }
}

async function addsContainer(cluster: Cluster, namespace: string): Promise<boolean> {
  const spec = { containers: [{ name: 'main', image: 'none' }] };
  const probe = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe', namespace }, spec };
  const stored = await cluster.request<Pod>('POST', `${podPath(namespace)}?dryRun=All`, probe);
  return stored.spec.containers.length === 2;
}

/** Plays the steps, each once what came before is there, and returns what came of the manifest and of each step. */
async function play(
  cluster: Cluster,
  each: Case,
  place: Place,
  zones: ReadonlyMap<string, string>,
): Promise<readonly Outcome[]> {
  const namespace = namespaceOf(each, place);
  const settled = (expected: Partial<Outcome>, labels: Step['labels'] = {}) =>
    settle(expected, () => outcomeOf(cluster, namespace, { app: each.name, ...labels }, zones));
  const outcomes = [await settled(each.expected)];
  for (const { patch, expected, labels } of each.steps ?? []) {
    const [apiVersion, resource, name, body] = patch;
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    const path = `${root}/namespaces/${namespace}/${resource}/${name}`;
    await cluster.request('PATCH', path, body, 'application/strategic-merge-patch+json');
    outcomes.push(await settled(expected, labels));
  }
  return outcomes;
}

/** Waits for the expected outcome, and returns what came of it by then. */
async function settle(expected: Partial<Outcome>, look: () => Promise<Outcome>): Promise<Outcome> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const outcome = await look();
    if (isAsExpected(outcome, expected) || performance.now() > deadline) return outcome;
    await delay(POLL_MS);
  }
}

function isAsExpected(outcome: Outcome, expected: Partial<Outcome>): boolean {
  const wanted = { running: 0, succeeded: 0, failed: 0, ...expected };
  return Object.entries(wanted).every(([field, value]) => outcome[field as keyof Outcome] === value);
}

async function outcomeOf(
  cluster: Cluster,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  zones: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const selector = Object.entries(labels).map((entry) => entry.join('='));
  const query = `labelSelector=${encodeURIComponent(selector.join(','))}`;
  const { items } = await cluster.get<{ items: Pod[] }>(`${podPath(namespace)}?${query}`);
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

/** What all FluxJobs say, by their names. */
async function reasonsOf(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const path = '/apis/jobs.converged-computing.org/v1alpha1/fluxjobs';
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

/**
 * Compares what came of the last step, or of the first before it that did not come to what the case says; what explains
 * the last step does not explain another one.
 */
export function compare(
  { name, expected, steps = [], explained = {} }: Case,
  plainOnes: readonly Outcome[],
  queuedOnes: readonly Outcome[],
  reasons: ReadonlyMap<string, string>,
): Comparison {
  const wanted = [expected, ...steps.map((step) => step.expected)];
  const last = wanted.length - 1;
  const came = (ones: readonly Outcome[], i: number) => isAsExpected(ones[i]!, wanted[i]!);
  const early = wanted.findIndex((_, i) => i < last && !(came(plainOnes, i) && came(queuedOnes, i)));
  const at = early === -1 ? last : early;
  const [plain, queued] = [plainOnes[at]!, queuedOnes[at]!];
  const asked = wanted[at]!;
  const explanations = at === last ? explained : {};
  const fields = Object.keys(plain) as (keyof Outcome)[];
  const different = fields
    .filter((field) => plain[field] !== queued[field])
    .map((field) => [field, explanations[field] ?? (field in asked ? '' : unasked(field, plain, queued))]);
  const says = [...reasons]
    .filter(([fluxJob]) => fluxJob.startsWith(`${name}-`))
    .map((entry) => entry.join(' '));
  return {
    name,
    plain,
    queued,
    different: Object.fromEntries(different),
    isExpected: came(plainOnes, at),
    says: says.join('; '),
  };
}
