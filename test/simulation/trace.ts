/** Traces for tests and benchmarks: seeded, so always the same, and similar to those of the archives. */

export interface TraceOptions {
  readonly jobs: number;
  /** Cores of the machine. */
  readonly cores: number;
  /** Mean load of the machine. */
  readonly load: number;
  /** Whether walltimes equal runtimes. @default false */
  readonly exact?: boolean;
  /** Whether three of four jobs of a user run about as long as the one before. @default false */
  readonly habits?: boolean;
  /** @default 1 */
  readonly seed?: number;
}

/** Park and Miller's generator. */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const USERS = 7;

/**
 * Widths are mostly powers of two up to half of the machine, most often narrow; a few jobs need nearly all of it.
 * Runtimes spread over four decades. Requested times are rounded up to common values.
 */
export function swfTrace({
  jobs,
  cores,
  load,
  exact = false,
  habits = false,
  seed = 1,
}: TraceOptions): string {
  const random = randomOf(seed);
  const runtimes: number[] = [];
  const made = Array.from({ length: jobs }, (_, i) => {
    const processors = widthOf(random, cores);
    const last = habits && random() < 0.75 ? runtimes[i - USERS] : undefined;
    const runtime = Math.max(
      1,
      Math.round(last ? last * (0.7 + 0.6 * random()) : 10 ** (1 + 3.4 * random())),
    );
    runtimes.push(runtime);
    return { processors, runtime, requested: exact ? runtime : requestedFor(runtime, random) };
  });
  const work = made.reduce((sum, { processors, runtime }) => sum + processors * runtime, 0);
  const gap = work / (cores * load) / jobs;
  let at = 0;
  const lines = made.map(({ processors, runtime, requested }, i) => {
    at += -Math.log(1 - random()) * gap;
    const fields = [i + 1, Math.round(at), -1, runtime, processors, -1, -1, processors, requested, -1, 1];
    return [...fields, 1 + (i % USERS), 1, -1, 1, -1, -1, -1].join(' ');
  });
  return `; Generated, seed ${seed}\n; MaxProcs: ${cores}\n${lines.join('\n')}\n`;
}

function widthOf(random: () => number, cores: number): number {
  const draw = random();
  if (draw < 0.02) return Math.max(1, Math.floor(cores * (0.5 + 0.5 * random())));
  const widest = Math.log2(cores / 2);
  const width = 2 ** (widest * random() ** 1.6);
  return draw < 0.75 ? 2 ** Math.round(Math.log2(width)) : Math.max(1, Math.round(width));
}

const COMMON_TIMES = [300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];

/** Half of the users know the runtime, the others request far more. */
function requestedFor(runtime: number, random: () => number): number {
  const wanted = runtime * (1 + (random() < 0.5 ? 0.2 : 8) * random());
  return COMMON_TIMES.find((time) => time >= wanted) ?? Math.ceil(wanted);
}
