/** Traces for tests and benches: seeded, so the same every time, and like what archives hold. */

export interface TraceOptions {
  readonly jobs: number;
  /** Cores of the machine it is made for. */
  readonly cores: number;
  /** Of the machine, on the average. */
  readonly load: number;
  /** Walltimes are as long as the jobs run. @default false */
  readonly exact?: boolean;
  /** @default 1 */
  readonly seed?: number;
}

/** Park and Miller's generator: good enough, and nothing to install. */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * Widths are mostly powers of two up to half of the machine, narrow ones most often, a few need nearly all of it;
 * runtimes spread over four decades; requested times are rounded up to what users type.
 */
export function swfTrace({ jobs, cores, load, exact = false, seed = 1 }: TraceOptions): string {
  const random = randomOf(seed);
  const made = Array.from({ length: jobs }, () => {
    const processors = widthOf(random, cores);
    const runtime = Math.max(1, Math.round(10 ** (1 + 3.4 * random())));
    return { processors, runtime, requested: exact ? runtime : requestedFor(runtime, random) };
  });
  const work = made.reduce((sum, { processors, runtime }) => sum + processors * runtime, 0);
  const gap = work / (cores * load) / jobs;
  let at = 0;
  const lines = made.map(({ processors, runtime, requested }, i) => {
    at += -Math.log(1 - random()) * gap;
    const fields = [i + 1, Math.round(at), -1, runtime, processors, -1, -1, processors, requested, -1, 1];
    return [...fields, 1 + (i % 7), 1, -1, 1, -1, -1, -1].join(' ');
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

const TYPED = [300, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];

/** Half of the users know, the others type something far longer. */
function requestedFor(runtime: number, random: () => number): number {
  const wanted = runtime * (1 + (random() < 0.5 ? 0.2 : 8) * random());
  return TYPED.find((typed) => typed >= wanted) ?? Math.ceil(wanted);
}
