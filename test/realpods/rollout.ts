/**
 * The steps of a platform team: `kubectl apply` of the same files, and a rolling update of every Deployment while Jobs are created.
 * The kubelet ends the old pods, and the connections of the apiserver take the way through the Service.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { atRate } from '../at-rate';
import { jobManifest, TEAM } from './load';
import type { Run } from './scenario';
import { STACK_NAMESPACE } from './stack';

/** Creations per second that admission judges and nobody stores: real pods could not follow. */
const KNOCKS_PER_SECOND = 50;
/** Real Jobs per second. */
const JOBS_PER_SECOND = 2;
/** Looks at the Jobs. */
const LOOKS_PER_SECOND = 5;

/** Nothing is replaced by an apply of the same files. */
export async function applyAgain({ stack, say, figures }: Run): Promise<void> {
  const uids = async () => (await stack.waitReady()).map(({ metadata }) => metadata.uid).sort();
  const before = await uids();
  await stack.apply();
  await delay(2000);
  const after = await uids();
  if (before.join() !== after.join()) figures.problems.push('a second apply of the same files replaced pods');
  say('applied again: the same pods');
}

/** `kubectl rollout restart` of all Deployments at once. */
export async function rollOut(run: Run): Promise<void> {
  const { stack, say, figures, load } = run;
  await load.drain();
  await stack.waitReady();
  const refusedBefore = load.refusals.length;
  const stopping = new AbortController();
  const knocks = knock(run, stopping.signal);
  const stream = submitStream(run, stopping.signal);
  const grants = watchGrants(run, stopping.signal);
  await delay(2000);
  await stack.kubectl('rollout', 'restart', 'deployment', '-n', STACK_NAMESPACE);
  await stack.kubectl('rollout', 'status', 'deployment', '-n', STACK_NAMESPACE, '--timeout=180s');
  await stack.waitReady();
  await delay(2000);
  stopping.abort();
  const { count, refused } = await knocks;
  await stream;
  figures.rolloutGapSeconds = await grants;
  const refusals = [...refused, ...load.refusals.slice(refusedBefore)];
  figures.rolloutCreations = count;
  figures.rolloutRefused = refusals.length;
  if (refusals.length > 0)
    figures.problems.push(
      `${refusals.length} creations were refused while pods were replaced: ${refusals[0]}`,
    );
  say(
    `replaced every pod of the Deployments: ${count} creations, ${refusals.length} refused, at most ${figures.rolloutGapSeconds} s between grants`,
  );
  await load.drain();
}

interface Knocks {
  readonly count: number;
  readonly refused: readonly string[];
}

/** Dry-run creations at a fixed rate: their admission is the real one. */
async function knock({ rig }: Run, signal: AbortSignal): Promise<Knocks> {
  const pending: Promise<void>[] = [];
  const refused: string[] = [];
  const path = `${jobs(TEAM)}?dryRun=All`;
  const send = async (name: string) => {
    const { status, text } = await rig.cluster.api
      .send('POST', path, jobManifest(name))
      .catch((error: Error) => ({ status: 0, text: error.message }));
    if (status !== 201) refused.push(text);
  };
  await atRate(KNOCKS_PER_SECOND, signal, (i) => pending.push(send(`knock-${i}`)));
  await Promise.all(pending);
  return { count: pending.length, refused };
}

/** Jobs small enough to run beside each other. */
async function submitStream({ load }: Run, signal: AbortSignal): Promise<void> {
  const pending: Promise<string>[] = [];
  await atRate(JOBS_PER_SECOND, signal, (i) =>
    pending.push(load.submit(`rollout-${i}`, { cpu: '10m', seconds: 1 })),
  );
  await Promise.all(pending);
}

/** @returns the longest time without a grant, in seconds. There is always a Job that waits for less than a second. */
async function watchGrants({ rig }: Run, signal: AbortSignal): Promise<number> {
  const granted = new Set<string>();
  let last = performance.now();
  let gap = 0;
  await atRate(LOOKS_PER_SECOND, signal, async () => {
    const { items } = await rig.cluster.get<{ items: Job[] }>(jobs(TEAM));
    const before = granted.size;
    for (const { metadata, spec } of items) if (spec.suspend === false) granted.add(metadata.name);
    gap = Math.max(gap, performance.now() - last);
    if (granted.size > before) last = performance.now();
  });
  return Math.round(gap / 10) / 100;
}
