/**
 * Whatever a user writes into a workload of any kind of the registry, nothing that the controller calls of it throws: what cannot be
 * read is Invalid, with a sentence.
 */
import { askOf } from '../../runtime/jobspec/jobspec';
import { podSetsOf } from '../../runtime/jobspec/pod-sets';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { adapters } from '../../runtime/workloads/index';
import { Random } from '../fuzz/random';
import { ended, inPhase, released } from './specimen-life';
import { grantedRow, NODE, NOW, type Specimen, said, specimenOf, submissionOf, watched } from './specimens';

const KINDS = [...adapters.keys()];

/** Functions that the controller calls of any object, outside of what judges it. */
type Asked = Exclude<
  {
    [K in keyof WorkloadAdapter]: WorkloadAdapter[K] extends (...args: never[]) => unknown ? K : never;
  }[keyof WorkloadAdapter],
  'demand' | 'path'
>;
type Calls = {
  readonly [K in Asked]: (
    adapter: WorkloadAdapter,
    object: KubernetesObject,
    row: WorkloadRow,
    pods: readonly Pod[],
  ) => unknown;
};

const hasObject = (adapter: WorkloadAdapter, object: KubernetesObject) =>
  adapter.membersOf(object) === undefined;
const gatedOf: Calls['podsToPlace'] = (adapter, object, row, pods) =>
  adapter.podsToPlace(object, pods, row, NOW) as unknown;
const eachGated = (call: (pod: Pod) => unknown, pods: unknown) => (pods as readonly Pod[]).map(call);

/** One entry for each function: a new one has to be called here too. */
const CALLS: Calls = {
  membersOf: (a, o) => a.membersOf(o),
  isSuspended: (a, o) => a.isSuspended(o),
  isStaged: (a, o) => a.isStaged(o),
  gates: (a, o, _, p) => a.gates(o, p),
  stagePatch: (a, o, r) => a.stagePatch(o, r),
  canRelease: (a, o) => a.canRelease(o),
  startTimePatch: (a, o) => a.startTimePatch(o),
  isReleasedOnto: (a, o, r) => a.isReleasedOnto(o, r),
  isSuspendable: (a, o) => a.isSuspendable(o),
  isLarge: (a, o) => a.isLarge(o),
  samplePod: (a, o) => a.samplePod(o, 'worker'),
  podSetOf: (a, o, _, p) => p.map((pod) => a.podSetOf(o, pod)),
  outcome: (a, o, r, p) => [a.outcome(o, p, NOW, r), a.outcome(o, p, NOW), a.outcome(o, [], NOW, r)],
  finishedNodes: (a, o, r, p) => a.finishedNodes(o, r, p),
  isGang: (a, o) => a.isGang(o),
  idleNodes: (a, o, r, p) => a.idleNodes(o, r, p),
  neededPods: (a, o, r, p) => a.neededPods(o, r, p),
  missingPods: (a, o, r, p) => a.missingPods(o, r, p),
  awaitedPods: (a, o, r, p) => a.awaitedPods(o, r, p),
  unseenPods: (a, o, _, p) => a.unseenPods(o, p),
  podsToPlace: gatedOf,
  largerPods: (a, o, r, p) => a.largerPods(o, r, p),
  placelessPods: (a, o, r, p) => a.placelessPods(o, r, p),
  placePatch: (a, o, r, p) => eachGated((pod) => a.placePatch(o, r, pod, NODE, NOW), gatedOf(a, o, r, p)),
  earlierPlacePatch: (a, o, r, p) =>
    eachGated((pod) => a.earlierPlacePatch(o, r, pod, NODE, NOW), gatedOf(a, o, r, p)),
  placedPod: (a, o, r, p) => eachGated((pod) => a.placedPod(o, r, pod, NODE), gatedOf(a, o, r, p)),
  releasePatch: (a, o, r) => hasObject(a, o) && a.isSuspended(o) && a.releasePatch(o, r),
  earlierReleasePatch: (a, o, r) => hasObject(a, o) && a.isSuspended(o) && a.earlierReleasePatch(o, r),
  replacementPolicy: (a, o, r) => a.replacementPolicy(o, r),
  isReplacementNoted: (a, o) => a.isReplacementNoted(o),
  walltimeEnd: (a, o, r) => [NOW, NOW + 1e6].map((now) => a.walltimeEnd(o, { ...r, startedAt: NOW }, now)),
  suspendPatch: (a, o) => a.suspendPatch(o),
  handOverPatch: (a, o) => hasObject(a, o) && [true, false].map((starts) => a.handOverPatch(o, starts)),
  recordedGrant: (a, o, _, p) => a.recordedGrant(o, p),
};

const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  [null],
  [{}],
  '',
  'ß∂ƒ\u0000\u202e😀',
  'x'.repeat(1_000),
  '0/1:node-1;;=',
  0,
  -1,
  -0.5,
  0.1,
  1e308,
  2 ** 53,
  true,
  false,
];

function kindOfValue(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

/** A copy with other values in random fields. @param isTyped whether the apiserver knows the type of each field */
function broken<T>(value: T, random: Random, isTyped: boolean): T {
  const copy = structuredClone(value) as Fields;
  for (let n = random.between(1, 3); n > 0; n--) breakOne(copy, random, isTyped);
  return copy as T;
}

type Fields = Record<string, unknown>;

/** What the apiserver asks for in pods and Jobs. */
const REQUIRED: ReadonlySet<string> = new Set([
  'containers',
  'template',
  'spec',
  'name',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
]);

function breakOne(fields: Fields, random: Random, isTyped: boolean): void {
  const key = random.oneOf(Object.keys(fields));
  if (key === undefined) return;
  const inner = fields[key];
  const isContainer = typeof inner === 'object' && inner !== null;
  const isKept = isTyped && REQUIRED.has(key);
  if (isKept && !isContainer) return;
  if (isContainer && (isKept || random.happens(0.75))) {
    breakOne(inner as Fields, random, isTyped);
    return;
  }
  const fits = (other: unknown) => other === undefined || kindOfValue(other) === kindOfValue(inner);
  const other = random.oneOf(isTyped ? GARBAGE.filter((each) => fits(each) && !isNested(each)) : GARBAGE);
  if (other !== undefined) fields[key] = other;
  else if (Array.isArray(fields)) fields.splice(Number(key), 1);
  else delete fields[key];
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** The apiserver sets the rest of the metadata, and allows strings only. */
function withGarbage(object: KubernetesObject, random: Random, isTyped: boolean): KubernetesObject {
  const { metadata, ...rest } = object;
  const { labels, annotations } = broken(
    { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} },
    random,
    true,
  );
  const noted = random.happens(0.3)
    ? { metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) } }
    : { metadata };
  const { spec, status } = rest as { spec?: object; status?: object };
  return {
    ...object,
    ...noted,
    spec: broken(spec ?? {}, random, isTyped),
    ...(status !== undefined && { status: random.happens(0.3) ? broken(status, random, true) : status }),
  } as KubernetesObject;
}

/** Draws of each kind and stage. */
const DRAWS = 40;

describe.each(KINDS)('a %s with anything in its fields', (name) => {
  const fresh = specimenOf(name);
  const { adapter } = fresh;
  const row = grantedRow(submissionOf(watched(fresh), adapter));
  const granted = released(fresh, row);
  const stages: Readonly<Record<string, Specimen>> = {
    waiting: fresh,
    granted,
    running: inPhase(granted, 'Running'),
    succeeded: ended(granted, true),
    failed: ended(granted, false),
  };

  test.each(Object.keys(stages))(
    'is judged with a sentence, and asked without an error, when it is %s',
    (stage) => {
      said.length = 0;
      const random = new Random(KINDS.indexOf(name) * 100 + Object.keys(stages).indexOf(stage));
      const whole = stages[stage]!;
      // Fields of Jobs and pods have types; those of a definition may have none, as the templates of an MPIJob.
      const isTyped = whole.kind === undefined;
      const failed: string[] = [];
      for (let i = 0; i < DRAWS; i++) {
        const object = whole.object && withGarbage(whole.object, random, isTyped);
        const pods = whole.pods.map((pod) =>
          random.happens(0.3) ? (withGarbage(pod, random, true) as Pod) : pod,
        );
        for (const text of asked({ ...whole, object, pods }, row))
          failed.push(`${text}: ${JSON.stringify(object)}`);
      }
      expect([...new Map(failed.map((text) => [text.split(':')[0], text.slice(0, 1_500)])).values()]).toEqual(
        [],
      );
      expect([...new Set(said)]).toEqual([]);
    },
  );
});

/** No node has more units. */
function isGrantable({ jobspec }: Pick<WorkloadRow, 'jobspec'>): boolean {
  const { perPod, pods } = askOf(jobspec);
  return Object.values(perPod).every((count) => count * pods < 10_000);
}

/** Every error, with what it came of. */
function asked(specimen: Specimen, row: WorkloadRow): readonly string[] {
  const { adapter } = specimen;
  const found: string[] = [];
  const attempt = <T>(what: string, call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      found.push(
        `${what} ${error instanceof Error ? (error.stack ?? '').split('\n').slice(0, 3).join(' ') : ''}`,
      );
      return undefined;
    }
  };
  const seen = attempt('watch', () => watched(specimen, row));
  if (seen?.object === undefined) return found;
  const submission = attempt('judge', () => submissionOf(seen, adapter));
  const isWhole = submission !== undefined && submission.jobspec.attributes.user?.invalid === undefined;
  const isOne = isWhole && podSetsOf(submission.jobspec) === undefined && isGrantable(submission);
  const rows = isOne ? [row, grantedRow(submission)] : [row];
  for (const each of rows)
    for (const [what, call] of Object.entries(CALLS))
      attempt(what, () => call(adapter, seen.object, each, seen.pods));
  return found;
}
