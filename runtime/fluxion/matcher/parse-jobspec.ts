/** The jobspec parser of flux-sched: the same checks in the same order with the same texts, for JSON instead of YAML. */

import { JobspecError } from './constraint';
import type { CountRange } from './count';
import { UNLIMITED } from './count';

export interface ParsedResource {
  readonly type: string;
  readonly count: CountRange;
  readonly label: string;
  /** Undefined without the key. */
  readonly exclusive: boolean | undefined;
  readonly with: readonly ParsedResource[];
}

export interface ParsedJobspec {
  readonly resources: readonly ParsedResource[];
  readonly duration: number;
  /** The unparsed constraint; undefined without the key. */
  readonly constraints: unknown;
}

type Mapping = Readonly<Record<string, unknown>>;

/**
 * @param isKnown whether a resource type is in the graph or built in
 * @throws JobspecError
 */
export function parseJobspec(jobspec: unknown, isKnown: (type: string) => boolean): ParsedJobspec {
  if (!isMapping(jobspec)) throw new JobspecError('Top level of jobspec is not a mapping');
  for (const [key, named] of TOP) {
    if (!(key in jobspec)) throw new JobspecError(`Missing key "${named}" in top level mapping`);
  }
  if (Object.keys(jobspec).length !== 4) {
    throw new JobspecError('Top mapping in jobspec must have exactly four entries');
  }
  const version = unsigned(jobspec.version);
  if (version === undefined) throw new JobspecError('"version" must be an unsigned integer');
  if (version < 1 || version > 9999) throw new JobspecError('Only jobspec "version" 1-9999 is supported');
  const system = parseAttributes(jobspec.attributes);
  if (!Array.isArray(jobspec.resources)) throw new JobspecError('"resources" is not a sequence');
  const resources = jobspec.resources.map((resource) => parseResource(resource, isKnown));
  if (!Array.isArray(jobspec.tasks)) throw new JobspecError('"tasks" is not a sequence');
  jobspec.tasks.forEach(checkTask);
  const duration = system.duration === undefined ? 0 : Number(system.duration);
  return { resources, duration, constraints: system.constraints };
}

/** Keys with the names in error texts; "resource" is the spelling of flux-sched. */
const TOP = [
  ['version', 'version'],
  ['resources', 'resource'],
  ['tasks', 'tasks'],
  ['attributes', 'attributes'],
] as const;

function parseAttributes(attributes: unknown): Mapping {
  if (attributes === null) return {};
  if (!isMapping(attributes)) throw new JobspecError('"attributes" is not a map');
  for (const key of Object.keys(attributes)) {
    if (key !== 'system' && key !== 'user') throw new JobspecError('Unknown key in "attributes"');
  }
  return isMapping(attributes.system) ? attributes.system : {};
}

const RESOURCE_KEYS: ReadonlySet<string> = new Set([
  'type',
  'count',
  'unit',
  'label',
  'id',
  'exclusive',
  'with',
]);

function parseResource(resource: unknown, isKnown: (type: string) => boolean): ParsedResource {
  if (!isMapping(resource)) throw new JobspecError('resource is not a mapping');
  const { type } = resource;
  if (type === undefined) throw new JobspecError('Key "type" missing from resource');
  if (!isScalar(type)) throw new JobspecError('Value of "type" must be a scalar');
  if (!isKnown(`${type}`)) {
    throw new JobspecError('Value of "type" must be a resource type known to fluxion');
  }
  if (resource.count === undefined) throw new JobspecError('Key "count" missing from resource');
  const count = parseCount(resource.count);
  checkEntries(resource);
  for (const key of ['unit', 'label', 'id', 'exclusive'] as const) {
    if (resource[key] !== undefined && !isScalar(resource[key])) {
      throw new JobspecError(`Value of "${key}" must be a scalar`);
    }
  }
  if (type === 'slot' && resource.label === undefined) throw new JobspecError('All slots must be labeled');
  return {
    type: `${type}`,
    count,
    label: resource.label === undefined ? '' : `${resource.label}`,
    exclusive: parseExclusive(resource.exclusive),
    with: parseWith(resource.with, isKnown),
  };
}

function checkEntries(resource: Mapping): void {
  const keys = Object.keys(resource);
  if (keys.length > 10) throw new JobspecError('impossible number of entries in resource mapping');
  if (keys.some((key) => !RESOURCE_KEYS.has(key))) {
    throw new JobspecError('Unrecognized key in resource mapping');
  }
}

function parseExclusive(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new JobspecError('Value of "exclusive" must be either "true" or "false"');
}

function parseWith(value: unknown, isKnown: (type: string) => boolean): ParsedResource[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new JobspecError('"resources" is not a sequence');
  return value.map((resource) => parseResource(resource, isKnown));
}

function parseCount(value: unknown): CountRange {
  if (isScalar(value)) {
    const count = count32(value);
    return { min: count, max: count, operator: '+', operand: 1 };
  }
  if (!isMapping(value)) throw new JobspecError('count is not a mapping');
  if (value.min === undefined) throw new JobspecError('Key "min" missing from count');
  if (!isScalar(value.min)) throw new JobspecError('Value of "min" must be a scalar');
  const min = count32(value.min);
  const given = RANGE_KEYS.filter((key) => value[key] !== undefined);
  if (given.length > 0 && given.length < 3) {
    throw new JobspecError('All or none of "max", "operator", and "operand" must be specified');
  }
  for (const key of given) {
    if (!isScalar(value[key])) throw new JobspecError(`Value of "${key}" must be a scalar`);
  }
  const range = {
    min,
    max: value.max === undefined ? UNLIMITED : count32(value.max),
    operator: value.operator === undefined ? '+' : value.operator,
    operand: value.operand === undefined ? 1 : count32(value.operand),
  };
  checkRange(range);
  return range as CountRange;
}

const RANGE_KEYS = ['max', 'operator', 'operand'] as const;

function checkRange(range: { min: number; max: number; operator: unknown; operand: number }): void {
  const { min, max, operator, operand } = range;
  if (min < 1) throw new JobspecError('"min" must be greater than zero');
  if (max < min) throw new JobspecError('"max" must be greater than or equal to "min"');
  if (operator === '+') {
    if (operand < 1) throw new JobspecError(`"operand" must be greater than zero for addition '+'`);
  } else if (operator === '*') {
    if (operand < 2) throw new JobspecError(`"operand" must be greater than one for multiplication '*'`);
  } else if (operator === '^') {
    if (operand < 2) throw new JobspecError(`"operand" must be greater than one for exponentiation '^'`);
    if (min < 2) throw new JobspecError(`"min" must be greater than one for exponentiation '^'`);
  } else throw new JobspecError('Invalid count operator');
}

function count32(value: unknown): number {
  const count = unsigned(value);
  if (count === undefined || count > UNLIMITED) throw new JobspecError('yaml-cpp: error: bad conversion');
  return count;
}

function checkTask(task: unknown): void {
  if (!isMapping(task)) throw new JobspecError('task is not a mapping');
  if (task.command === undefined) throw new JobspecError('Key "command" missing from task');
  if (!Array.isArray(task.command)) throw new JobspecError('"command" value must be a sequence');
  if (task.slot === undefined) throw new JobspecError('Key "slot" missing from task');
  if (!isScalar(task.slot)) throw new JobspecError('Value of task "slot" must be a YAML scalar');
  if (task.count !== undefined) checkTaskCount(task.count);
  if (task.distribution !== undefined && !isScalar(task.distribution)) {
    throw new JobspecError('Value of task "distribution" must be a YAML scalar');
  }
  if (task.attributes !== undefined && !isMapping(task.attributes)) {
    throw new JobspecError('"attributes" in task is not a mapping');
  }
  const entries = Object.keys(task).length;
  if (entries < 3 || entries > 5) throw new JobspecError('impossible number of entries in task mapping');
}

function checkTaskCount(count: unknown): void {
  if (!isMapping(count)) throw new JobspecError('"count" in task is not a mapping');
  if (Object.keys(count).length !== 1) {
    throw new JobspecError('"count" in task must have exactly one entry');
  }
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** A YAML scalar read as an unsigned integer. */
function unsigned(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : undefined;
}
