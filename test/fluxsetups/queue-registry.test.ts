import { parseConfig } from '../../runtime/config';
import { type QueueCandidate, QueueRegistry, queueOf } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import type { FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import { fluxSetup } from './fluxsetup-objects';

const candidate = (
  name: string,
  createdAt = '2026-01-01T00:00:00Z',
  allowsStackQueue = false,
): QueueCandidate => ({ name, createdAt, allowsStackQueue });
const allowing = candidate('open', undefined, true);
const NONE = { namespace: 'science', requested: undefined, current: undefined };
const asks = (requested: string) => ({ ...NONE, requested });

describe('a workload that names a queue', () => {
  test.each([
    [
      'goes to the FluxSetup of its namespace',
      'team',
      [candidate('team'), candidate('other')],
      'default',
      'science/team',
    ],
    ["goes to the stack's own queue", 'default', [], 'default', 'default'],
    [
      "does not leave its FluxSetup for the stack's own queue",
      'default',
      [candidate('team')],
      'default',
      'science/default',
    ],
    [
      "goes to the stack's own queue where a FluxSetup allows it",
      'default',
      [candidate('team'), allowing],
      'default',
      'default',
    ],
    [
      "prefers a FluxSetup with the name of the stack's own queue",
      'default',
      [candidate('default')],
      'default',
      'science/default',
    ],
    ['waits for a queue that does not exist', 'tema', [candidate('team')], 'default', 'science/tema'],
    ['waits for a FluxSetup if the stack has no queue', 'default', [], undefined, 'science/default'],
  ])('%s', (_, requested, candidates, own, queue) => {
    expect(queueOf(asks(requested), candidates, own)).toBe(queue);
  });
});

describe('a workload that names no queue', () => {
  const later = '2026-01-02T00:00:00Z';
  test.each([
    ['the only FluxSetup of its namespace', [candidate('team')], 'default', 'science/team'],
    ['the FluxSetup named default', [candidate('a'), candidate('default', later)], 'own', 'science/default'],
    ['the oldest of several FluxSetups', [candidate('a', later), candidate('b')], 'default', 'science/b'],
    [
      'the first by name of FluxSetups of the same age',
      [candidate('b'), candidate('a')],
      'default',
      'science/a',
    ],
    ["the stack's own queue if there is no FluxSetup", [], 'batch', 'batch'],
    ['a future FluxSetup if there is no queue at all', [], undefined, 'science/default'],
  ])('goes to %s', (_, candidates, own, queue) => {
    expect(queueOf(NONE, candidates, own)).toBe(queue);
  });

  test('stays in its queue when the FluxSetup is deleted', () => {
    expect(queueOf({ ...NONE, current: 'science/team' }, [], 'default')).toBe('science/team');
  });

  test('moves to another FluxSetup of its namespace', () => {
    const candidates = [candidate('next')];
    expect(queueOf({ ...NONE, current: 'science/team' }, candidates, 'default')).toBe('science/next');
  });

  test("leaves the stack's own queue for the first FluxSetup of its namespace", () => {
    expect(queueOf({ ...NONE, current: 'default' }, [candidate('team')], 'default')).toBe('science/team');
  });
});

describe('a workload of a namespace whose label names a queue', () => {
  const named = (name: string) => ({ ...NONE, named: name });
  test.each([
    ['waits for it until the FluxSetup comes', 'team', [], 'default', 'science/team'],
    [
      'is in it, whatever else there is',
      'team',
      [candidate('default'), candidate('team')],
      'default',
      'science/team',
    ],
    ["is in the stack's own queue, if it names that", 'default', [candidate('team')], 'default', 'default'],
    ['waits for the FluxSetup if the stack has no queue', 'default', [], undefined, 'science/default'],
  ])('%s', (_, name, candidates, own, queue) => {
    expect(queueOf(named(name), candidates, own)).toBe(queue);
  });

  test("does not leave it for the stack's own queue, also while there is no FluxSetup yet", () => {
    expect(queueOf({ ...named('team'), requested: 'default' }, [], 'default')).toBe('science/default');
    expect(queueOf({ ...named('default'), requested: 'default' }, [], 'default')).toBe('default');
    expect(queueOf({ ...named('team'), requested: 'default' }, [allowing], 'default')).toBe('default');
  });

  test('may name another one itself, and leaves the queue in which it was', () => {
    expect(queueOf({ ...named('team'), requested: 'night' }, [], 'default')).toBe('science/night');
    expect(queueOf({ ...named('team'), current: 'default' }, [], 'default')).toBe('science/team');
  });
});

describe('the queue registry', () => {
  const own = stackQueue(parseConfig({ queue: { defaultWalltimeSeconds: 77 } }).queue);
  test('gives FluxSetups the weights of the stack, but not those of its own queue', () => {
    const weights = { age: 2, size: 3, queue: 5, maxAgeSeconds: 3_600 };
    const stack = stackQueue(parseConfig({ queue: { priorityWeights: weights } }).queue);
    const objects = [fluxSetup('plain'), fluxSetup('other', { priorityWeights: { age: 0 } })];
    const queues = new QueueRegistry(stack, true, () => objects);
    const stackWide = { age: 2, fairShare: 0.5, size: 3, queue: 0, maxAgeSeconds: 3_600 };
    expect(queues.byName('science/plain')!.priorityWeights).toEqual(stackWide);
    expect(queues.byName('science/other')!.priorityWeights).toEqual({ ...stackWide, age: 0 });
    expect(queues.byName('default')!.priorityWeights).toEqual({ ...stackWide, queue: 5 });
  });

  const registryOf = (objects: FluxSetupObject[], isStackQueueEnabled = true) =>
    new QueueRegistry(own, isStackQueueEnabled, () => objects);

  test("has the stack's own queue and one queue per FluxSetup", () => {
    const queues = registryOf([fluxSetup('a'), fluxSetup('b', {}, { namespace: 'art' })]);
    expect(queues.all().map(({ name }) => name)).toEqual(['default', 'science/a', 'art/b']);
    expect(queues.byName('art/b')?.namespace).toBe('art');
    expect(queues.byName('art/a')).toBeUndefined();
    expect(registryOf([], false).all()).toEqual([]);
  });

  test("has the stack's own queue where the FluxSetup allows it", () => {
    const chosen = (spec: object) => registryOf([fluxSetup('a', spec)]).queueOf(asks('default'));
    expect(chosen({ allowStackQueue: true })).toBe('default');
    expect(chosen({ allowStackQueue: false })).toBe('science/default');
    expect(chosen({})).toBe('science/default');
  });

  test('reads the FluxSetups again after a change', () => {
    const objects = [fluxSetup('a')];
    const queues = registryOf(objects);
    expect(queues.queueOf(NONE)).toBe('science/a');
    objects[0] = fluxSetup('b', { depth: 3 });
    queues.invalidate();
    expect(queues.queueOf(NONE)).toBe('science/b');
    expect(queues.byName('science/b')?.depth).toBe(3);
  });

  test('keeps workloads in a queue that was deleted, not in one that never existed', () => {
    const objects = [fluxSetup('team')];
    const queues = registryOf(objects);
    expect(queues.queueOf(NONE)).toBe('science/team');
    objects.pop();
    queues.invalidate();
    expect(queues.queueOf({ ...NONE, current: 'science/team' })).toBe('science/team');
    expect(queues.queueOf({ ...NONE, current: 'science/tema' })).toBe('default');
    // After a restart only the rows show that the queue existed.
    const next = registryOf([]);
    next.remember('science/team');
    expect(next.queueOf({ ...NONE, current: 'science/team' })).toBe('science/team');
  });

  test('reports why an invalid FluxSetup has no queue', () => {
    const queues = registryOf([fluxSetup('a', { quota: { cores: '1e99' } })]);
    expect(queues.byName('science/a')).toBeUndefined();
    expect(queues.problemOf('science/a')).toContain('FLUXQ_QUANTITY: spec.quota.cores: ');
    expect(queues.queueOf(NONE)).toBe('science/a');
  });

  test("plans workloads without a queue by the walltimes of the stack's own queue", () => {
    const queues = registryOf([fluxSetup('a', { walltime: { default: '9s' } })], false);
    expect(queues.planOf('science/a').defaultWalltimeSeconds).toBe(9);
    expect(queues.planOf('science/none').defaultWalltimeSeconds).toBe(77);
    expect(queues.byName('default')).toBeUndefined();
  });
});
