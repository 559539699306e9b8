/** One run: the corpus goes through a stack with nodes, while a canary of another namespace is created every second. */
import { readFileSync } from 'node:fs';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from '../stack/roles';
import type { Stack } from '../stack/stack';
import { Canary, isReleased, isStarted, quantile } from './canary';
import { unexplained } from './explanations';
import type { Poison } from './objects';
import { type Submitted, submit } from './submit';

export interface PoisonFigures {
  readonly objects: number;
  /** Those that admission refused; all others wait or run. */
  readonly refused: number;
  readonly canaries: number;
  readonly canaryP50Ms: number;
  readonly canaryP99Ms: number;
  readonly canaryMaxMs: number;
  /** How long the apiserver took to create a canary: of a machine with other load, most of the wait. */
  readonly creationP50Ms: number;
  readonly creationP99Ms: number;
  /** How long a watch of another client took to show the creation. */
  readonly seenP50Ms: number;
  readonly seenP99Ms: number;
  /** A canary of a namespace without the queue, created at the same time: until the Job controller has started it. */
  readonly plainP50Ms: number;
  readonly plainP99Ms: number;
  readonly plainMaxMs: number;
  /** Canaries that were not released a minute after the last one. */
  readonly unreleased: number;
  /** Terms of leadership after the first one, and ends of the process. */
  readonly restarts: number;
  readonly peakRssMiB: number;
  /** Accepted objects of which the stack does not say what became of them. */
  readonly unexplained: readonly string[];
}

export interface PoisonResult {
  readonly figures: PoisonFigures;
  readonly submitted: Submitted;
}

export interface PoisonRun {
  readonly stack: Stack;
  readonly client: KubernetesClient;
  readonly controller: RoleProcess;
  readonly corpus: readonly Poison[];
  /** Who submit the corpus at once; one is what `kubectl apply` does with a directory. */
  readonly writers: number;
  /** Seconds of canaries after the last object was created. */
  readonly seconds: number;
  readonly progress: (line: string) => void;
}

const NAMESPACE = 'poison';
const CANARIES = 'canaries';
const PLAIN = 'canaries-without-queue';
/** Milliseconds within which the stack has to explain every object. */
const EXPLAINED_MS = 60_000;

export async function runPoison(run: PoisonRun): Promise<PoisonResult> {
  const { stack, client, controller, corpus, writers, seconds, progress } = run;
  await stack.namespace(CANARIES);
  await stack.namespace(PLAIN, false);
  const canary = new Canary(client, CANARIES, isReleased);
  const plain = new Canary(client, PLAIN, isStarted);
  await Promise.all([canary.start(), plain.start()]);
  await waitFor('the first canaries', () => canary.count >= 3);
  const submitted = await submit(stack, corpus, { prefix: NAMESPACE, writers });
  const at = canary.count;
  progress(
    `${submitted.accepted.length} accepted, ${submitted.refused.length} refused, ${at} canaries so far`,
  );
  const left = await untilExplained(run, submitted);
  await waitFor('enough canaries', () => canary.count >= at + seconds, { timeoutMs: 2_000 * seconds });
  await Promise.all([canary, plain].map((each) => ended(each, progress)));
  const figures = {
    objects: corpus.length,
    refused: submitted.refused.length,
    canaries: canary.count,
    ...canaryFigures(canary, plain),
    unreleased: canary.open,
    restarts: restartsOf(controller),
    peakRssMiB: peakRssMiB(controller),
    unexplained: left,
  };
  return { figures, submitted };
}

/** @returns what the stack has not explained in time */
async function untilExplained({ client, progress }: PoisonRun, { accepted }: Submitted) {
  let left: readonly string[] = [];
  await waitFor(
    'all objects to be explained',
    async () => {
      left = await unexplained(client, accepted);
      return left.length === 0;
    },
    { timeoutMs: EXPLAINED_MS, everyMs: 1_000 },
  ).catch((error: unknown) => progress(String(error)));
  return left;
}

function canaryFigures(canary: Canary, plain: Canary) {
  const waits = canary.waits();
  const plainWaits = plain.waits();
  return {
    canaryP50Ms: quantile(waits, 0.5),
    canaryP99Ms: quantile(waits, 0.99),
    canaryMaxMs: quantile(waits, 1),
    creationP50Ms: quantile(canary.creations(), 0.5),
    creationP99Ms: quantile(canary.creations(), 0.99),
    seenP50Ms: quantile(canary.sightings(), 0.5),
    seenP99Ms: quantile(canary.sightings(), 0.99),
    plainP50Ms: quantile(plainWaits, 0.5),
    plainP99Ms: quantile(plainWaits, 0.99),
    plainMaxMs: quantile(plainWaits, 1),
  };
}

async function ended(canary: Canary, progress: (line: string) => void): Promise<void> {
  await canary.stop(60_000).catch((error: unknown) => progress(String(error)));
}

/** Its first term is none. */
function restartsOf({ process }: RoleProcess): number {
  const terms = readFileSync(process.logFile, 'utf8').split('"message":"leader"').length - 1;
  return terms - 1 + (process.running ? 0 : 1);
}

function peakRssMiB({ process }: RoleProcess): number {
  const [, kibibytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}
