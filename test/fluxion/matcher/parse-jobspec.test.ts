import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import type { Jobspec } from '../../../runtime/jobspec/types';
import { jobspecOf } from './arbitraries';

const matcher = Matcher.fromNodes([{ name: 'n0', units: { core: 4, memory: 4 } }], { policy: 'lonode' });

function answer(jobspec: unknown): { status: string; text?: string } {
  return matcher.match({ jobid: 1, jobspec: jobspec as Jobspec, operation: 'without_allocating', now: 0 });
}

const slot = { type: 'slot', count: 1, label: 'task', with: [{ type: 'core', count: 1 }] };
const good = jobspecOf(slot);
const withResource = (resource: unknown) => ({ ...good, resources: [resource] });
const withTask = (task: unknown) => ({ ...good, tasks: [task] });
const withCore = (core: object) => withResource({ ...slot, with: [{ type: 'core', count: 1, ...core }] });
const withDuration = (duration: unknown) => ({ ...good, attributes: { system: { duration } } });
const without = (key: keyof Jobspec) =>
  Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));

// The texts of flux-sched.
test.each<[unknown, string]>([
  ['text', 'Top level of jobspec is not a mapping'],
  [without('version'), 'Missing key "version" in top level mapping'],
  [without('resources'), 'Missing key "resource" in top level mapping'],
  [without('tasks'), 'Missing key "tasks" in top level mapping'],
  [without('attributes'), 'Missing key "attributes" in top level mapping'],
  [{ ...good, more: 1 }, 'Top mapping in jobspec must have exactly four entries'],
  [{ ...good, version: -1 }, '"version" must be an unsigned integer'],
  [{ ...good, version: 10_000 }, 'Only jobspec "version" 1-9999 is supported'],
  [{ ...good, attributes: [] }, '"attributes" is not a map'],
  [{ ...good, attributes: { other: {} } }, 'Unknown key in "attributes"'],
  [{ ...good, resources: {} }, '"resources" is not a sequence'],
  [{ ...good, resources: [] }, 'traverser: Invalid argument'],
  [withResource(1), 'resource is not a mapping'],
  [withResource({ count: 1 }), 'Key "type" missing from resource'],
  [withResource({ type: [], count: 1 }), 'Value of "type" must be a scalar'],
  [withResource({ type: 'tpu', count: 1 }), 'Value of "type" must be a resource type known to fluxion'],
  [withResource({ type: 'core' }), 'Key "count" missing from resource'],
  [withCore({ colour: 'red' }), 'Unrecognized key in resource mapping'],
  [withResource({ ...slot, label: undefined }), 'All slots must be labeled'],
  [withCore({ exclusive: 'maybe' }), 'Value of "exclusive" must be either "true" or "false"'],
  [withCore({ count: 1.5 }), 'bad conversion'],
  [withCore({ count: [] }), 'count is not a mapping'],
  [withCore({ count: { max: 2 } }), 'Key "min" missing from count'],
  [
    withCore({ count: { min: 1, max: 2 } }),
    'All or none of "max", "operator", and "operand" must be specified',
  ],
  [withCore({ count: { min: 0 } }), '"min" must be greater than zero'],
  [withCore({ count: { min: 3, max: 2, operator: '+', operand: 1 } }), 'greater than or equal to "min"'],
  [withCore({ count: { min: 3, max: 9, operator: '*', operand: 1 } }), "for multiplication '*'"],
  [withCore({ count: { min: 1, max: 9, operator: '^', operand: 2 } }), "for exponentiation '^'"],
  [withCore({ count: { min: 1, max: 9, operator: '-', operand: 2 } }), 'Invalid count operator'],
  [withCore({ count: 0 }), 'traverser: Invalid argument'],
  [withTask(1), 'task is not a mapping'],
  [withTask({ slot: 'task', count: { total: 1 } }), 'Key "command" missing from task'],
  [withTask({ command: 'x', slot: 'task', count: { total: 1 } }), '"command" value must be a sequence'],
  [withTask({ command: ['x'], slot: 'task', count: {} }), '"count" in task must have exactly one entry'],
  [withTask({ command: ['x'], slot: 'task' }), 'impossible number of entries in task mapping'],
  [withDuration(-5), 'traverser: Invalid argument'],
  [withDuration('soon'), 'traverser: Invalid argument'],
  [withDuration(3_153_600_001), 'traverser: Invalid argument'],
])('refuses %j: %s', (jobspec, text) => {
  const { status, text: actual } = answer(jobspec);
  expect(status).toBe('INVALID');
  expect(actual).toContain(text);
});

// flux-sched parses these jobspecs but has no defined answer.
test.each<[object, string]>([
  [{ type: 'node', count: 1 }, 'without a slot'],
  [{ ...slot, with: [slot] }, 'a slot inside a slot'],
  [{ ...slot, with: [] }, 'a slot without resources'],
  [{ ...slot, with: [{ type: 'core', count: 1, exclusive: false }] }, '"exclusive: false" below a slot'],
  [{ ...slot, with: [slot.with[0], slot.with[0]] }, 'two siblings of one resource type'],
  [{ type: 'node', count: 1, with: [{ ...slot, type: 'xor_slot' }] }, 'without a slot'],
])('refuses unsupported %j: %s', (resource, text) => {
  const { status, text: actual } = answer(withResource(resource));
  expect(status).toBe('INVALID');
  expect(actual).toContain(text);
});

test.each([
  ['null attributes: 100 years', { ...good, attributes: null }],
  ['fractions of a second', withDuration(0.5)],
  ['no tasks', { ...good, tasks: [] }],
  ['a task that names another slot', withTask({ command: ['x'], slot: 'other', count: { per_slot: 1 } })],
])('accepts %s', (_, jobspec) => {
  expect(answer(jobspec).status).toBe('OK');
});

test('rounds a fraction of a second up', () => {
  expect(answer(withDuration(0.5))).toMatchObject({ start: 0, end: 1 });
});
