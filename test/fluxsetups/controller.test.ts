/** FluxSetups at work: what their changes set going. */
import { parseConfig } from '../../runtime/config';
import { FluxSetupController } from '../../runtime/fluxsetups/controller';
import type { FluxSetupObject } from '../../runtime/fluxsetups/queue-settings';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { Queue } from '../../runtime/queue/store';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';
import { fluxSetup } from './fluxsetup-objects';

class World {
  readonly clock = new ManualClock();
  readonly objects: FluxSetupObject[] = [];
  readonly added: string[] = [];
  readonly changed: string[] = [];
  readonly rejudged: boolean[] = [];
  readonly stored: string[][] = [];
  failure: Error | undefined;
  readonly setups: FluxSetupController;

  constructor() {
    const queue = {
      finished: async () => [{ queue: 'science/team', count: 7 }],
      setQueues: async (_fence: number, settings: readonly QueueSettings[]) => {
        if (this.failure !== undefined) throw this.failure;
        this.stored.push(settings.map(({ name }) => name));
      },
    } as unknown as Queue;
    this.setups = new FluxSetupController({
      config: parseConfig({}),
      client: {} as KubernetesClient,
      queue,
      fence: 1,
      rows: () => [],
      all: () => this.objects,
      seen: () => undefined,
      busy: () => false,
      add: (key) => this.added.push(key),
      onChanged: (namespace, rejudge) => {
        this.changed.push(namespace);
        this.rejudged.push(rejudge);
      },
      clock: this.clock,
      now: () => 0,
    });
  }

  create(object: FluxSetupObject): void {
    this.objects.push(object);
    this.setups.changed(undefined, object);
  }
}

test('a new FluxSetup is a queue, in the tables too, and what waits in its namespace is judged anew', async () => {
  const world = new World();
  await world.setups.store();
  world.create(fluxSetup('team'));
  expect(world.changed).toEqual(['science']);
  expect(world.added).toEqual(['science/team']);
  expect(world.setups.queues.byName('science/team')).toBeDefined();
  await Promise.all([world.setups.store(), world.setups.store()]);
  expect(world.stored).toEqual([['default'], ['default', 'science/team']]);
});

test('a status that we wrote changes nothing', async () => {
  const world = new World();
  const team = fluxSetup('team');
  world.create(team);
  await world.setups.store();
  world.setups.changed(team, { ...team, status: { waiting: 3 } });
  await world.setups.store();
  expect(world.changed).toEqual(['science']);
  expect(world.stored).toHaveLength(1);
});

test('a change of what workloads are planned with judges them anew, the rest is for the next pass', async () => {
  const world = new World();
  const specs = [{}, { quota: { cores: 1 } }, { walltime: { max: '2h' } }, { priority: { max: 3 } }];
  const versions = specs.map((spec, i) => fluxSetup('team', spec, { generation: i + 1 }));
  world.create(versions[0]!);
  for (const version of versions.slice(1)) world.setups.changed(versions[0], version);
  world.setups.changed(versions[1], undefined);
  expect(world.rejudged).toEqual([true, false, true, true, true]);
});

test('its deletion takes the queue away', async () => {
  const world = new World();
  const team = fluxSetup('team');
  world.create(team);
  world.objects.pop();
  world.setups.changed(team, undefined);
  await world.setups.store();
  expect(world.changed).toEqual(['science', 'science']);
  expect(world.stored).toEqual([['default']]);
});

test('a database that is down is asked again', async () => {
  const world = new World();
  world.failure = new Error('down');
  await expect(world.setups.store()).rejects.toThrow('down');
  world.failure = undefined;
  await world.setups.store();
  expect(world.stored).toEqual([['default']]);
});

test('many rows that change are one look at the FluxSetups', async () => {
  const world = new World();
  world.setups.rowChanged(rowIn('Waiting'));
  world.create(fluxSetup('team'));
  world.added.length = 0;
  for (let i = 0; i < 100; i++) world.setups.rowChanged(rowIn('Finished', { queue: 'science/team' }));
  expect(world.added).toEqual([]);
  await world.clock.advance(1_000);
  expect(world.added).toEqual(['science/team']);
  await world.clock.advance(10_000);
  expect(world.added).toHaveLength(1);
});

test('nothing is looked at after the end', async () => {
  const world = new World();
  world.create(fluxSetup('team'));
  world.setups.rowChanged(rowIn('Waiting'));
  world.setups.stop();
  world.added.length = 0;
  world.setups.rowChanged(rowIn('Waiting'));
  await world.clock.advance(10_000);
  expect(world.added).toEqual([]);
});
