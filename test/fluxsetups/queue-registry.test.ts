import { parseConfig } from '../../runtime/config';
import { QueueRegistry, queueOf, type Setup } from '../../runtime/fluxsetups/queue-registry';
import { type FluxSetupObject, ownQueue } from '../../runtime/fluxsetups/queue-settings';
import { fluxSetup } from './fluxsetup-objects';

const setup = (name: string, createdAt = '2026-01-01T00:00:00Z'): Setup => ({ name, createdAt });
const NONE = { namespace: 'science', requested: undefined, current: undefined };
const asks = (requested: string) => ({ ...NONE, requested });

describe('a workload that names a queue', () => {
  test.each([
    ['a FluxSetup of its namespace', 'team', [setup('team'), setup('other')], 'default', 'science/team'],
    ["the stack's own queue", 'default', [setup('team')], 'default', 'default'],
    [
      "a FluxSetup that is named like the stack's own",
      'default',
      [setup('default')],
      'default',
      'science/default',
    ],
    ['one that is not there', 'tema', [setup('team')], 'default', 'science/tema'],
    ['the own queue of a stack without one', 'default', [], undefined, 'science/default'],
  ])('%s', (_, requested, setups, own, queue) => {
    expect(queueOf(asks(requested), setups, own)).toBe(queue);
  });
});

describe('a workload that names none', () => {
  const later = '2026-01-02T00:00:00Z';
  test.each([
    ['the only FluxSetup of its namespace', [setup('team')], 'default', 'science/team'],
    ['of several the one named default', [setup('a'), setup('default', later)], 'own', 'science/default'],
    ['of several the oldest', [setup('a', later), setup('b')], 'default', 'science/b'],
    ['of equally old ones the first by name', [setup('b'), setup('a')], 'default', 'science/a'],
    ["without FluxSetups the stack's own", [], 'batch', 'batch'],
    ['without any queue the one that is to come', [], undefined, 'science/default'],
  ])('goes to %s', (_, setups, own, queue) => {
    expect(queueOf(NONE, setups, own)).toBe(queue);
  });

  test('stays where it is when its FluxSetup is deleted', () => {
    expect(queueOf({ ...NONE, current: 'science/team' }, [], 'default')).toBe('science/team');
  });

  test('moves on when another FluxSetup is there', () => {
    expect(queueOf({ ...NONE, current: 'science/team' }, [setup('next')], 'default')).toBe('science/next');
  });

  test("leaves the stack's own queue for the first FluxSetup of its namespace", () => {
    expect(queueOf({ ...NONE, current: 'default' }, [setup('team')], 'default')).toBe('science/team');
  });
});

describe('the queues', () => {
  const own = ownQueue(parseConfig({ queue: { defaultWalltimeSeconds: 77 } }).queue);
  const queuesOf = (objects: FluxSetupObject[], hasOwn = true) =>
    new QueueRegistry(own, hasOwn, () => objects);

  test("are the stack's own and one per FluxSetup", () => {
    const queues = queuesOf([fluxSetup('a'), fluxSetup('b', {}, { namespace: 'art' })]);
    expect(queues.all().map(({ name }) => name)).toEqual(['default', 'science/a', 'art/b']);
    expect(queues.byName('art/b')?.namespace).toBe('art');
    expect(queues.byName('art/a')).toBeUndefined();
    expect(queuesOf([], false).all()).toEqual([]);
  });

  test('follow the FluxSetups once they are told', () => {
    const objects = [fluxSetup('a')];
    const queues = queuesOf(objects);
    expect(queues.queueOf(NONE)).toBe('science/a');
    objects[0] = fluxSetup('b', { depth: 3 });
    queues.changed();
    expect(queues.queueOf(NONE)).toBe('science/b');
    expect(queues.byName('science/b')?.depth).toBe(3);
  });

  test('hold what was in one that is gone, not what was in none', () => {
    const objects = [fluxSetup('team')];
    const queues = queuesOf(objects);
    expect(queues.queueOf(NONE)).toBe('science/team');
    objects.pop();
    queues.changed();
    expect(queues.queueOf({ ...NONE, current: 'science/team' })).toBe('science/team');
    expect(queues.queueOf({ ...NONE, current: 'science/tema' })).toBe('default');
    // After a restart only the rows tell that there was a queue.
    const next = queuesOf([]);
    next.remember('science/team');
    expect(next.queueOf({ ...NONE, current: 'science/team' })).toBe('science/team');
  });

  test('of a FluxSetup that makes no sense there is none, and it is said why', () => {
    const queues = queuesOf([fluxSetup('a', { quota: { cores: '1e99' } })]);
    expect(queues.byName('science/a')).toBeUndefined();
    expect(queues.problemOf('science/a')).toContain('FLUXQ_QUANTITY: spec.quota.cores: ');
    expect(queues.queueOf(NONE)).toBe('science/a');
  });

  test('what waits for a queue is planned by the walltimes of the stack', () => {
    const queues = queuesOf([fluxSetup('a', { walltime: { default: '9s' } })], false);
    expect(queues.planOf('science/a').defaultWalltimeSeconds).toBe(9);
    expect(queues.planOf('science/none').defaultWalltimeSeconds).toBe(77);
    expect(queues.byName('default')).toBeUndefined();
  });
});
