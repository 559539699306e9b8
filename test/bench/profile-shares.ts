/** Sums CPU profiles: those of Go by kind of request to an apiserver, those of V8 by function. */

/** What a sample was taken in, by the first pattern that its stack matches. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['garbage collection beside requests', /runtime\.(gcBgMarkWorker|bgsweep|bgscavenge)/],
  ['mutating policies', /admission\/plugin\/policy\/mutating/],
  ['validating policies', /admission\/plugin\/policy\/validating/],
  ['custom resources (FluxJobs)', /apiextensions-apiserver/],
  ['watches: encoding and sending', /handlers\.handleWatch|WatchServer/],
  [
    'watch cache and etcd client',
    /storage\/cacher\.\(\*(Cacher|watchCache|cacheWatcher)|etcd3\.\(\*watch|clientv3|client\/v3|grpc/,
  ],
  ['create', /handlers\.\w*Create\w*Resource|createHandler/],
  ['patch', /handlers\.(PatchResource|\(\*patcher)|patchResource/],
  ['update', /handlers\.UpdateResource|registry\.\(\*Store\)\.Update|updateHandler/],
  ['connections', /http2\.|net\/http\.\(\*conn/],
  [
    'authentication, authorization, fairness',
    /endpoints\/filters|server\/filters|kube-aggregator|flowcontrol/,
  ],
];
const OTHER = 'other';

const NANOSECONDS = 1e9;

/** @param raw what `go tool pprof -raw` prints of a CPU profile */
export function secondsByKind(raw: string): ReadonlyMap<string, number> {
  const [samples = '', rest = ''] = raw.split('\nLocations\n');
  const functions = functionsByLocation(rest.split('\nMappings')[0]!);
  const seconds = new Map<string, number>([...KINDS.map(([kind]) => kind), OTHER].map((kind) => [kind, 0]));
  for (const line of samples.split('\n')) {
    const [, nanoseconds, locations] = /^\s*\d+\s+(\d+): ([\d ]+)$/.exec(line) ?? [];
    if (nanoseconds === undefined || locations === undefined) continue;
    const stack = locations
      .trim()
      .split(' ')
      .flatMap((id) => functions.get(id) ?? [])
      .join('\n');
    const kind = KINDS.find(([, pattern]) => pattern.test(stack))?.[0] ?? OTHER;
    seconds.set(kind, seconds.get(kind)! + Number(nanoseconds) / NANOSECONDS);
  }
  return seconds;
}

/** A location is several functions where some are inlined: each further one has a line of its own. */
function functionsByLocation(text: string): ReadonlyMap<string, readonly string[]> {
  const functions = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split('\n')) {
    const [, id, name] = /^\s*(?:(\d+): 0x[0-9a-f]+ M=\d+ )?(\S.*?) \S*:\d+/.exec(line) ?? [];
    if (name === undefined) continue;
    if (id !== undefined) {
      current = [];
      functions.set(id, current);
    }
    current.push(name);
  }
  return functions;
}

/** A `.cpuprofile` of V8. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const MICROSECONDS = 1e6;

/** The time in each function itself, without those that it calls and without idle time. */
export function secondsByFunction({ nodes, samples, timeDeltas }: CpuProfile): ReadonlyMap<string, number> {
  const nameOf = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName || '(anonymous)']));
  const seconds = new Map<string, number>();
  for (const [i, sample] of samples.entries()) {
    const name = nameOf.get(sample)!;
    if (name !== '(idle)') seconds.set(name, (seconds.get(name) ?? 0) + timeDeltas[i]! / MICROSECONDS);
  }
  return seconds;
}
