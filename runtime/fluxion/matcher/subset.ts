/**
 * The requests that both engines answer. All others are INVALID, and the library is not asked: flux-sched either refuses them
 * too, or answers in no defined way, or keeps something of them for the next request.
 */
import type { Jobspec } from '../../jobspec/types';
import { HUNDRED_YEARS } from '../time-axis';
import { JobspecError, type Matches, parseConstraint } from './constraint';
import { type ParsedJobspec, type ParsedResource, parseJobspec } from './parse-jobspec';
import type { Policy } from './policy';

/** Also thrown for requests that flux-sched parses but that are not supported. */
export { JobspecError };

/** The text for a request that flux-sched parses and its traverser refuses. */
const TRAVERSER_INVALID = 'traverser: Invalid argument';

interface CheckedJobspec extends Pick<ParsedJobspec, 'resources' | 'duration'> {
  readonly constraint: Matches | undefined;
}

/**
 * @param isKnown whether a request may name this resource type
 * @throws JobspecError whose message is the text of the INVALID answer
 */
export function readSubset(
  jobspec: unknown,
  isKnown: (type: string) => boolean,
  policy: Policy,
): CheckedJobspec {
  const { resources, duration, constraints } = parseJobspec(jobspec, isKnown);
  const constraint = constraints === undefined ? undefined : parseConstraint(constraints);
  // In flux-sched, an invalid duration leaves its exclusive types to the next request, which then gets whole nodes.
  if (resources.length === 0 || resources.some(hasNone) || !(duration >= 0 && duration <= HUNDRED_YEARS))
    throw new JobspecError(TRAVERSER_INVALID);
  if (!resources.some((resource) => allocates(resource, policy)))
    throw new JobspecError('a jobspec without a slot and without "exclusive: true" allocates no resources');
  checkSiblings(resources, false, false);
  return { resources, duration, constraint };
}

/** Why such a request is INVALID; undefined for all others. */
export function refusalOf(
  jobspec: Jobspec,
  isKnown: (type: string) => boolean,
  policy: Policy,
): string | undefined {
  try {
    readSubset(jobspec, isKnown, policy);
    return undefined;
  } catch (error) {
    if (error instanceof JobspecError) return error.message;
    throw error;
  }
}

function hasNone({ count, with: inside }: ParsedResource): boolean {
  return count.max === 0 || inside.some(hasNone);
}

function allocates(resource: ParsedResource, policy: Policy): boolean {
  return (
    resource.type === 'slot' ||
    resource.exclusive === true ||
    (policy.nodeExclusive && resource.type === 'node') ||
    resource.with.some((child) => allocates(child, policy))
  );
}

function checkSiblings(resources: readonly ParsedResource[], inSlot: boolean, inExclusive: boolean): void {
  const types = new Set(resources.map(({ type }) => type));
  if (types.size < resources.length)
    throw new JobspecError('two siblings of one resource type are not supported');
  if (types.has('xor_slot')) throw new JobspecError('xor_slot is not supported');
  if (inSlot && types.has('slot')) throw new JobspecError('a slot inside a slot is not supported');
  for (const resource of resources) {
    const isSlot = resource.type === 'slot';
    if (isSlot && resource.with.length === 0)
      throw new JobspecError('a slot without resources is not supported');
    if (resource.exclusive === false && (inSlot || inExclusive)) {
      throw new JobspecError('"exclusive: false" below a slot or an exclusive resource is not supported');
    }
    checkSiblings(resource.with, inSlot || isSlot, inExclusive || resource.exclusive === true);
  }
}
