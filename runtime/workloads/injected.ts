/**
 * What webhooks and policies of the cluster add to the pods of a template: a sidecar, larger requests, the place. A dry run says it before
 * the first grant (dry-runs.ts), and the first pod of a grant corrects what the Jobs with this template, and the same Job after a
 * requeue, are charged from then on. What a row was charged is in its jobspec, so the next leader goes on with it.
 *
 * A *template* is all that a webhook may decide by, a *family* the templates of a namespace with equal containers. Labels
 * often differ from Job to Job and mean nothing to a webhook, so a template of which no pod was seen yet gets what those of
 * its family got that are most like it.
 */
import { createHash } from 'node:crypto';
import type { PodSpec, Quantities, Toleration } from '../jobspec/pod';
import { difference, podRequests, quantitiesOf, sum } from '../jobspec/requests';
import { stateIn } from './mutating-admission';
import { remember } from './remembered';

/** The pods of a workload as they are expected. */
export interface Template {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly pod: PodSpec;
}

/** What webhooks decide by, beside the containers: key -> value. */
type Traits = ReadonlyMap<string, string>;

/** What a pod gets beyond its template. */
export interface Addition {
  /** @default - no more than its template says */
  readonly requests?: Quantities;
  /** Only a dry run says it: whoever may change a pod can add tolerations to it. @default - none */
  readonly placement?: Pick<PodSpec, 'nodeSelector' | 'tolerations'> | undefined;
}

/** Text of {@link Addition}. */
type Added = string;

interface Known {
  readonly added: Added;
  /** Of what adds it (mutating-admission.ts). Undefined: of the leader before, so that of the first question. */
  version: string | undefined;
}

interface Seen extends Known {
  readonly traits: Traits;
  readonly isDryRun: boolean;
}

interface Family {
  /** Template -> what its last pod that was looked at got; the last one is the newest. */
  readonly seen: Map<string, Seen>;
  /** Template -> what a workload of it was charged by the leader before. Forgotten once a pod says something new. */
  readonly assumed: Map<string, Known>;
  /** What decides by who creates a pod, so that a dry run says something else than a pod. */
  refuted?: string | undefined;
}

const MOST_FAMILIES = 10_000;
/** Templates of a family that are remembered. */
const MOST_TEMPLATES = 50;
/** A label or an annotation of which so many values were seen is the name of a run, and nothing that a webhook decides by. */
const NAMES_OF_RUNS = 3;
const NOTHING = '{}';

export class InjectedRequests {
  private readonly families = new Map<string, Family>();

  get isEmpty(): boolean {
    return this.families.size === 0;
  }

  /** Whether any pod gets something. Nearly never. */
  get addsAnything(): boolean {
    return [...this.families.values()].some(adds);
  }

  private addsTo(template: Template): boolean {
    const family = this.families.get(familyKeyOf(template));
    return family !== undefined && adds(family);
  }

  /**
   * @param real a pod of this template
   * @returns whether workloads are charged something else from now on
   */
  learn(template: Template, real: PodSpec, version?: string): boolean {
    const { family, before, ...given } = this.stateOf(template, version);
    const { placement } = JSON.parse(chargeOf(family, given.traits)) as Addition;
    const seen = { ...given, added: textOf({ requests: requestsBeyond(template, real), placement }) };
    const state = stateIn(version);
    if (before?.isDryRun === true && stateIn(before.version) === state && before.added !== seen.added) {
      family.refuted = state;
      for (const [key, { isDryRun }] of family.seen) if (isDryRun) family.seen.delete(key);
    }
    return note(family, { ...seen, isDryRun: false });
  }

  /**
   * What a dry run says is believed where no pod says something else.
   * @param pod of a dry run of this template
   * @returns as {@link learn}
   */
  expect(template: Template, pod: PodSpec, version: string): boolean {
    const { family, before, ...given } = this.stateOf(template, version);
    const isPod = before?.isDryRun === false && before.version === version;
    const added = textOf({
      requests: requestsBeyond(template, pod),
      placement: placementBeyond(template.pod, pod),
    });
    const seen = { ...given, added };
    return !isPod && family.refuted !== stateIn(version) && note(family, { ...seen, isDryRun: true });
  }

  /** Takes over what a workload of this template was charged by the leader before. */
  assume(template: Template, charged: Addition = {}): void {
    const added = textOf(charged);
    if (added === NOTHING && !this.addsTo(template)) return;
    const known = { added, version: undefined };
    remember(this.familyOf(template).assumed, keyOf(traitsOf(template)), known, MOST_TEMPLATES);
  }

  /** What a pod of this template gets beyond it; undefined if nothing is known, or nothing is added. */
  addedTo(template: Template): Addition | undefined {
    const family = this.families.get(familyKeyOf(template));
    const added = family === undefined ? NOTHING : chargeOf(family, traitsOf(template));
    return added === NOTHING ? undefined : (JSON.parse(added) as Addition);
  }

  /** Whether a pod, or pods that are like it in all that counts, said what is added by this version of what adds something. */
  isKnown(template: Template, version: string): boolean {
    const family = this.families.get(familyKeyOf(template));
    if (family === undefined) return false;
    if (family.refuted === stateIn(version)) return true;
    const traits = traitsOf(template);
    const key = keyOf(traits);
    const own = family.seen.get(key) ?? family.assumed.get(key);
    if (own !== undefined) return isOf(own, version);
    const others = [...family.seen.values()].filter((seen) => isOf(seen, version));
    return ofMostAlike(others, traits) !== undefined && isOneOf(others, traits);
  }

  private stateOf(template: Template, version: string | undefined) {
    const family = this.familyOf(template);
    const traits = traitsOf(template);
    return { family, traits, version, before: family.seen.get(keyOf(traits)) };
  }

  private familyOf(template: Template): Family {
    const key = familyKeyOf(template);
    const family = this.families.get(key) ?? { seen: new Map(), assumed: new Map() };
    remember(this.families, key, family, MOST_FAMILIES);
    return family;
  }
}

/** @returns whether it is news */
function note(family: Family, seen: Seen): boolean {
  const isNews = chargeOf(family, seen.traits) !== seen.added;
  remember(family.seen, keyOf(seen.traits), seen, MOST_TEMPLATES);
  if (isNews) family.assumed.clear();
  return isNews;
}

/** The pod with what will be added to it: what it requests more as if it were overhead. */
export function withAdded(pod: PodSpec, { requests = {}, placement = {} }: Addition = {}): PodSpec {
  const parts = [pod.overhead ?? {}, requests].map((overhead) => podRequests({ containers: [], overhead }));
  const overhead = quantitiesOf(sum(parts));
  const { nodeSelector, tolerations = [] } = placement;
  return {
    ...pod,
    ...(Object.keys(requests).length > 0 && { overhead }),
    ...(nodeSelector && { nodeSelector: { ...pod.nodeSelector, ...nodeSelector } }),
    ...(tolerations.length > 0 && { tolerations: [...(pod.tolerations ?? []), ...tolerations] }),
  };
}

function adds({ seen, assumed }: Family): boolean {
  return [...seen.values(), ...assumed.values()].some(({ added }) => added !== NOTHING);
}

function isOf(known: Known, version: string): boolean {
  known.version ??= version;
  return known.version === version;
}

/** Whether it differs from one of these in nothing but names of runs. */
function isOneOf(others: readonly Seen[], traits: Traits): boolean {
  const isSeen = ([key, value]: readonly [string, string]) => {
    const values = new Set(others.map((other) => other.traits.get(key)));
    return values.has(value) || values.size >= NAMES_OF_RUNS;
  };
  const hasSameKeys = (other: Seen) =>
    other.traits.size === traits.size && [...traits.keys()].every((key) => other.traits.has(key));
  return others.some(hasSameKeys) && [...traits].every(isSeen);
}

function chargeOf({ seen, assumed }: Family, traits: Traits): Added {
  const key = keyOf(traits);
  const known = seen.get(key) ?? assumed.get(key);
  if (known !== undefined) return known.added;
  const all = [...seen.values()];
  const last = all.findLast(({ version }) => version !== undefined)?.version;
  const newest = all.filter(({ version }) => version === undefined || version === last);
  return ofMostAlike(newest, traits) ?? NOTHING;
}

/** Undefined if those that are most like it got different things, or none was seen. */
function ofMostAlike(seen: readonly Seen[], traits: Traits): Added | undefined {
  const isSame = seen.every(({ added }) => added === seen[0]!.added);
  if (isSame) return seen[0]?.added;
  const distances = seen.map((other) => distance(traits, other.traits));
  const least = Math.min(...distances);
  const nearest = new Set(seen.filter((_, i) => distances[i] === least).map(({ added }) => added));
  return nearest.size === 1 ? [...nearest][0] : undefined;
}

/** A key that only one of them has says more than another value: those of many keys are of one Job alone. */
function distance(a: Traits, b: Traits): number {
  let other = 0;
  let common = 0;
  for (const [key, value] of a) {
    if (b.has(key)) common += 1;
    if (b.has(key) && b.get(key) !== value) other += 1;
  }
  return (a.size + b.size - 2 * common) * OTHER_KEY + other;
}

const OTHER_KEY = 1_000;

/** Equal for pods that webhooks and the queue cannot tell from each other. */
export function templateKeyOf(template: Template): string {
  const text = familyKeyOf(template) + keyOf(traitsOf(template));
  return `${template.namespace}/${createHash('sha256').update(text).digest('base64')}`;
}

function familyKeyOf({ namespace, pod }: Template): string {
  const { containers, initContainers = [], overhead, resources } = pod;
  const parts = [...containers, ...initContainers].map(({ name, resources: own }) => [name, own]);
  return JSON.stringify([namespace, parts, overhead, resources]);
}

function keyOf(traits: Traits): string {
  return JSON.stringify([...traits]);
}

/** Written by Kubernetes and the queue, after the Job was created and at its release: they would make each template its own. */
const OWN_KEY = /^(fluxqueue\/|(batch\.kubernetes\.io\/)?(controller-uid|job-name)$)/;

function traitsOf({ labels, annotations, pod }: Template): Traits {
  const entries = [
    ...Object.entries(labels).map(([key, value]) => [`label ${key}`, key, value] as const),
    ...Object.entries(annotations).map(([key, value]) => [`annotation ${key}`, key, value] as const),
  ];
  const kept = entries.filter(([, key]) => !OWN_KEY.test(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map([
    ...kept.map(([trait, , value]) => [trait, value] as const),
    ['service account', pod.serviceAccountName ?? ''] as const,
  ]);
}

function requestsBeyond(template: Template, pod: PodSpec): Quantities {
  return quantitiesOf(difference(podRequests(pod), podRequests(template.pod)));
}

/** Kubernetes gives every pod these tolerations, for a while: the node is none of the queue's then. */
const OF_EVERY_POD = /^node\.kubernetes\.io\/(not-ready|unreachable)$/;

function placementBeyond(template: PodSpec, pod: PodSpec): Addition['placement'] {
  const had = new Set(template.tolerations?.map(written));
  const tolerations = (pod.tolerations ?? [])
    .filter((one) => !had.has(written(one)) && !OF_EVERY_POD.test(one.key ?? ''))
    .map(({ key, operator, value, effect }) => ({ key, operator, value, effect }) as Toleration);
  const selected = Object.entries(pod.nodeSelector ?? {}).filter(
    ([key, value]) => template.nodeSelector?.[key] !== value,
  );
  return {
    ...(selected.length > 0 && { nodeSelector: Object.fromEntries(selected) }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

/** The apiserver writes `Equal` where a template has no operator. */
function written({ key, operator = 'Equal', value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

/** The same for equal ones, and {@link NOTHING} for an empty one. */
function textOf({ requests = {}, placement = {} }: Addition): Added {
  const { nodeSelector, tolerations } = placement;
  const isEmpty = (part: object) => Object.keys(part).length === 0;
  const place = { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) };
  return JSON.stringify({
    ...(!isEmpty(requests) && { requests }),
    ...(!isEmpty(place) && { placement: place }),
  });
}
