/** Compares an admitted object with the same object without admission and with the expected outcome. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  GATE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  QUEUED_BY_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import type { ExpectedOutcome } from './corpus-objects';

interface Term {
  matchExpressions?: unknown[];
  matchFields?: { key: string; operator: string; values?: string[] }[];
}

interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Term[] } };
}

type Spec = Record<string, unknown> & { affinity?: Affinity; schedulingGates?: { name: string }[] };

/**
 * Expects that `now` is `before` with exactly the changes of the outcome.
 * @param user the expected user annotation; undefined for a controller
 */
export function expectOutcome(
  before: KubeObject,
  now: KubeObject,
  expectedOutcome: ExpectedOutcome,
  user: string | undefined,
): void {
  if (expectedOutcome.is === 'untouched') expect(now).toEqual(before);
  else if (expectedOutcome.is === 'noted')
    expect(now).toEqual(asNoted(before, user, expectedOutcome.queuedBy));
  else if (expectedOutcome.is === 'gated') expect(now).toEqual(asGated(withUser(user, before)));
  else if (expectedOutcome.is === 'grouped')
    expect(now).toEqual(asGated(withGroup(withUser(user, before), expectedOutcome)));
  else if (expectedOutcome.is === 'pinned') expectPinned(before, now, expectedOutcome);
  else if (expectedOutcome.is === 'suspended' || expectedOutcome.is === 'held')
    expect(now).toEqual(asSuspended(withUser(user, before), expectedOutcome.is === 'held'));
  else throw new Error(`an object that should have been ${expectedOutcome.is} was admitted`);
}

function withUser(user: string | undefined, object: KubeObject): KubeObject {
  const { annotations: given } = object.metadata;
  if (given === undefined && user === undefined) return object;
  const { [USER_ANNOTATION]: _claim, ...others } = given ?? {};
  const annotations = user === undefined ? others : { ...others, [USER_ANNOTATION]: user };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withGroup(object: KubeObject, { group, size }: ExpectedOutcome & { is: 'grouped' }): KubeObject {
  const annotations = { ...object.metadata.annotations, [GROUP]: group, [GROUP_SIZE]: size };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function asNoted(object: KubeObject, user: string | undefined, queuedBy: string | undefined): KubeObject {
  const spec = object.spec as Spec & { template: KubeObject };
  const template = withUser(user, { ...spec.template, metadata: spec.template.metadata ?? {} });
  const { [QUEUED_BY_ANNOTATION]: _claim, ...others } = template.metadata.annotations ?? {};
  const annotations = { ...others, ...(queuedBy === undefined ? {} : { [QUEUED_BY_ANNOTATION]: queuedBy }) };
  const metadata = { ...template.metadata, annotations };
  const isClaimed = object.metadata.annotations?.[USER_ANNOTATION] !== undefined;
  return {
    ...(isClaimed ? withUser(user, object) : object),
    spec: { ...spec, template: { ...template, metadata } },
  };
}

function asSuspended(before: KubeObject, held: boolean): KubeObject {
  const labels = { ...before.metadata.labels, [ADMITTED_LABEL]: 'true', ...(held ? { [HOLD]: 'true' } : {}) };
  return {
    ...before,
    metadata: { ...withSuspension(before).metadata, labels },
    spec: { ...(before.spec as Spec), suspend: true },
  };
}

/** Admission notes that the user suspended the Job, and whether it held the Job for that. */
function withSuspension(before: KubeObject): KubeObject {
  const { labels, annotations } = before.metadata;
  if ((before.spec as Spec).suspend !== true || labels?.[ADMITTED_LABEL] === 'true') return before;
  const isGiven = (annotations?.[HOLD] ?? labels?.[HOLD]) !== undefined;
  const noted = { ...annotations, [SUSPEND_ANNOTATION]: isGiven ? 'true' : 'held' };
  return { ...before, metadata: { ...before.metadata, annotations: noted } };
}

function asGated(before: KubeObject): KubeObject {
  const spec = before.spec as Spec;
  const gates = spec.schedulingGates ?? [];
  const schedulingGates = gates.some(({ name }) => name === GATE) ? gates : [...gates, { name: GATE }];
  return {
    ...before,
    metadata: { ...before.metadata, labels: { ...before.metadata.labels, [ADMITTED_LABEL]: 'true' } },
    spec: { ...spec, schedulingGates },
  };
}

function expectPinned(
  before: KubeObject,
  now: KubeObject,
  { node, terms, keeps }: ExpectedOutcome & { is: 'pinned' },
): void {
  const [was, is] = [termsOf(before), termsOf(now)];
  const isPin = ({ key, operator, values }: NonNullable<Term['matchFields']>[number]) =>
    key === 'metadata.name' && operator === 'In' && values?.length === 1 && values[0] === node;
  const pins = is.map(({ matchFields = [] }) => matchFields.filter(isPin).length);
  expect(pins.reduce((sum, count) => sum + count, 0)).toBe(terms);
  expect(Math.max(...pins, 0)).toBeLessThanOrEqual(1);

  const withoutPins = ({ matchFields = [], matchExpressions = [] }: Term) => ({
    matchExpressions,
    matchFields: matchFields.filter((field) => !isPin(field)),
  });
  expect(is.map(withoutPins)).toEqual((was.length === 0 ? [{}] : was).map(withoutPins));
  const kept = keeps === undefined ? {} : { [ASSIGNMENT_ANNOTATION]: keeps };
  const annotations = { ...before.metadata.annotations, ...kept };
  expect(withoutTerms(now)).toEqual(
    withoutTerms({ ...before, metadata: { ...before.metadata, annotations } }),
  );
}

function termsOf({ spec }: KubeObject): Term[] {
  const { affinity } = spec as Spec;
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** The object without node selector terms, but with an affinity in any case. */
function withoutTerms(object: KubeObject): KubeObject {
  const spec = object.spec as Spec;
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: {} };
  return { ...object, spec: { ...spec, affinity: { ...spec.affinity, nodeAffinity } } };
}
