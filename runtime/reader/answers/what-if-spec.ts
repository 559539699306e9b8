/** Checks what somebody sent as a WhatIf. */
import { QUEUE_POLICIES, type QueuePolicy } from '../../../constructs/api/policies';
import { PRIORITY_RANGE } from '../../../constructs/api/settings';
import { FluxqError } from '../../errors';
import { MOST_MORE_NODES, type WhatIfSpec } from '../kinds';

export interface CheckedSpec extends WhatIfSpec {
  readonly object: Manifest;
  readonly policy?: QueuePolicy;
}

/** The parts of a manifest that are read before it is admitted. */
export interface Manifest extends Readonly<Record<string, unknown>> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** @throws FluxqError FLUXQ_WHATIF_INVALID */
export function checkedSpec(body: unknown, namespace: string): CheckedSpec {
  const spec = isRecord(body) ? body.spec : undefined;
  if (!isRecord(spec)) throw invalid('spec', 'is missing', spec, 'send the manifest as spec.object');
  const { moreNodes, policy, priority } = spec;
  if (moreNodes !== undefined && !isWithin(moreNodes, 0, MOST_MORE_NODES))
    throw invalid(
      'spec.moreNodes',
      `must be a whole number from 0 to ${MOST_MORE_NODES}`,
      moreNodes,
      'correct it',
    );
  if (policy !== undefined && !QUEUE_POLICIES.some((known) => known === policy))
    throw invalid('spec.policy', `must be one of: ${QUEUE_POLICIES.join(', ')}`, policy, 'correct it');
  const { min, max } = PRIORITY_RANGE;
  if (priority !== undefined && !isWithin(priority, min, max))
    throw invalid('spec.priority', `must be a whole number from ${min} to ${max}`, priority, 'correct it');
  return {
    object: manifestOf(spec.object, namespace),
    ...(moreNodes !== undefined && { moreNodes }),
    ...(policy !== undefined && { policy: policy as QueuePolicy }),
    ...(priority !== undefined && { priority }),
  };
}

function manifestOf(given: unknown, namespace: string): Manifest {
  if (!isRecord(given)) throw invalid('spec.object', 'must be a manifest', given, SEND);
  const { apiVersion, kind, metadata, spec } = given;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw invalid('spec.object', 'has no apiVersion and kind', undefined, SEND);
  if (!isRecord(metadata)) throw invalid('spec.object.metadata', 'is missing', metadata, SEND);
  if (!isRecord(spec)) throw invalid('spec.object.spec', 'is missing', spec, SEND);
  const { name = metadata.generateName, namespace: place = namespace } = metadata;
  if (typeof name !== 'string' || name === '')
    throw invalid('spec.object.metadata.name', 'is missing', name, 'give it a name');
  if (place !== namespace)
    throw invalid(
      'spec.object.metadata.namespace',
      'is not the namespace of the question',
      place,
      `ask in ${String(place)}`,
    );
  const texts = {
    labels: textsOf(metadata.labels, 'labels'),
    annotations: textsOf(metadata.annotations, 'annotations'),
  };
  return { ...given, apiVersion, kind, metadata: { ...metadata, ...texts, name, namespace }, spec };
}

function textsOf(given: unknown, field: string): Readonly<Record<string, string>> {
  const texts = given ?? {};
  if (isRecord(texts) && Object.values(texts).every((text) => typeof text === 'string'))
    return texts as Readonly<Record<string, string>>;
  throw invalid(`spec.object.metadata.${field}`, 'must have strings as values', given, 'quote the values');
}

const SEND = 'send a Job, a Pod or a MiniCluster as it would be applied';

export function invalid(field: string, problem: string, value: unknown, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_WHATIF_INVALID', problem, {
    field,
    ...(value !== undefined && { value }),
    remedy,
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
