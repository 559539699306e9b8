/** What the changes of FluxSetups and of their workloads set in motion. */
import { Registry } from 'prom-client';
import { parseConfig } from '../../runtime/config';
import { FluxSetupController, type FluxSetupShared } from '../../runtime/fluxsetups/controller';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import type { FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import type { Change } from '../../runtime/kubernetes/informer';
import { controllerMetrics } from '../../runtime/observability/metrics';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { Signals } from '../../runtime/shared/signals';
import { Surpluses } from '../../runtime/shared/surplus';
import { Signal } from '../../runtime/signal';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { rowIn } from '../queue/rows';
import { fluxSetup } from './fluxsetup-objects';

class World {
  readonly clock = new ManualClock();
  readonly objects: FluxSetupObject[] = [];
  readonly signals = new Signals();
  /** Keys of FluxSetups, once per reconciliation. */
  readonly reconciled: string[] = [];
  readonly statusWrites: string[] = [];
  /** What was announced, in order: `resubmit science` or `schedule`. */
  readonly announced: string[] = [];
  /** The names of the queues, once per write to the database. */
  readonly stored: string[][] = [];
  failure: Error | undefined;
  /** What the database says when the finished workloads are counted. */
  finished: () => Promise<{ queue: string; count: number }[]> = async () => [
    { queue: 'science/team', count: 7 },
  ];
  rowChanged: (row: WorkloadRow) => void = () => undefined;
  private readonly changed = new Signal<Change<FluxSetupObject>>();
  readonly surpluses = new Surpluses();
  readonly controller = new FluxSetupController(this.shared(), this.surpluses);

  private shared(): FluxSetupShared {
    const config = parseConfig({});
    this.signals.resubmitWaiting.subscribe(({ namespaces = [] }) =>
      this.announced.push(`resubmit ${[...namespaces].join()}`),
    );
    this.signals.schedule.subscribe(() => this.announced.push('schedule'));
    return {
      config,
      client: { patch: async (path: string) => this.statusWrites.push(path) },
      queue: {
        finished: () => this.finished(),
        setQueues: async (_fence: number, settings: readonly QueueSettings[]) => {
          if (this.failure !== undefined) throw this.failure;
          this.stored.push(settings.map(({ name }) => name));
        },
      },
      fence: 1,
      logger: recordingLogger(),
      metrics: controllerMetrics(new Registry()),
      time: { clock: this.clock, random: () => 0 },
      now: () => this.clock.now() / 1000,
      workloadCache: {
        active: () => [],
        onChange: (listener: (row: WorkloadRow) => void) => {
          this.rowChanged = listener;
        },
      },
      informers: { fluxSetups: this.informer() },
      queues: new QueueRegistry(stackQueue(config.queue), true, () => this.objects),
      signals: this.signals,
      busyness: { isBusy: () => false, burstSince: undefined },
    } as unknown as FluxSetupShared;
  }

  private informer() {
    return {
      changed: this.changed,
      list: () => this.objects,
      size: 1,
      get: (key: string) => {
        this.reconciled.push(key);
        return this.objects.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key);
      },
    };
  }

  async change(before: FluxSetupObject | undefined, now: FluxSetupObject | undefined): Promise<void> {
    if (before !== undefined) this.objects.splice(this.objects.indexOf(before), 1);
    if (now !== undefined) this.objects.push(now);
    this.changed.emit({ key: 'science/team', before, now });
    await settle();
  }
}

async function startedWorld(): Promise<World> {
  const world = new World();
  await world.controller.start();
  return world;
}

test('writes the queues to the database when it starts', async () => {
  const { stored } = await startedWorld();
  expect(stored).toEqual([['default']]);
});

test('starts without the number of finished workloads, which it asks for again', async () => {
  const world = new World();
  let asked = 0;
  world.finished = async () => {
    asked += 1;
    throw new Error('canceling statement due to statement timeout');
  };
  await world.controller.start();
  await settle();
  expect([asked, world.clock.next]).toEqual([1, 600_000]);
  await world.clock.advance(600_000);
  expect(asked).toBe(2);
  await world.controller.stop();
});

test('stores a new FluxSetup as a queue and resubmits the waiting workloads of its namespace', async () => {
  const world = await startedWorld();
  await world.change(undefined, fluxSetup('team'));
  expect(world.announced).toEqual(['resubmit science']);
  expect(world.stored).toEqual([['default'], ['default', 'science/team']]);
  expect(world.statusWrites).toHaveLength(1);
});

test('writes the queues once for all reconciliations between two changes', async () => {
  const world = await startedWorld();
  await world.change(undefined, fluxSetup('team'));
  world.objects.push(fluxSetup('other'));
  world.signals.resync.emit();
  await settle();
  expect(world.reconciled).toEqual(['science/team', 'science/team', 'science/other']);
  expect(world.stored).toHaveLength(2);
});

test('announces nothing after its own status write', async () => {
  const world = await startedWorld();
  const team = fluxSetup('team');
  await world.change(undefined, team);
  await world.change(team, { ...team, status: { waiting: 3 } });
  expect(world.announced).toEqual(['resubmit science']);
  expect(world.stored).toHaveLength(2);
});

test('resubmits waiting workloads only after changes that their rows depend on', async () => {
  const world = await startedWorld();
  const specs = [{}, { quota: { cores: 1 } }, { walltime: { max: '2h' } }, { priority: { max: 3 } }];
  const versions = specs.map((spec, i) => fluxSetup('team', spec, { generation: i + 1 }));
  await world.change(undefined, versions[0]);
  for (const version of versions.slice(1)) {
    await world.change(versions[0], version);
    world.objects.splice(0, 1, versions[0]!);
  }
  await world.change(versions[0], undefined);
  const resubmit = 'resubmit science';
  expect(world.announced).toEqual([resubmit, 'schedule', resubmit, resubmit, resubmit]);
});

test('removes the queue of a deleted FluxSetup', async () => {
  const world = await startedWorld();
  const team = fluxSetup('team');
  await world.change(undefined, team);
  await world.change(team, undefined);
  expect(world.announced).toEqual(['resubmit science', 'resubmit science']);
  expect(world.stored.at(-1)).toEqual(['default']);
});

test('rejects its start while the database fails', async () => {
  const world = new World();
  world.failure = new Error('down');
  await expect(world.controller.start()).rejects.toThrow('down');
});

test('writes the queues again after the database failed, and the status only then', async () => {
  const world = await startedWorld();
  world.failure = new Error('down');
  await world.change(undefined, fluxSetup('team'));
  expect([world.stored.length, world.statusWrites.length]).toEqual([1, 0]);
  world.failure = undefined;
  await world.clock.advance(250);
  expect(world.stored.at(-1)).toEqual(['default', 'science/team']);
  expect(world.statusWrites).toHaveLength(1);
});

test('reconciles a FluxSetup once for many row changes within a second', async () => {
  const world = await startedWorld();
  await world.change(undefined, fluxSetup('team'));
  world.reconciled.length = 0;
  for (let i = 0; i < 100; i++) world.rowChanged(rowIn('Finished', { queue: 'science/team' }));
  await settle();
  expect(world.reconciled).toEqual([]);
  await world.clock.advance(1_000);
  expect(world.reconciled).toEqual(['science/team']);
  expect(world.statusWrites).toHaveLength(2);
  await world.clock.advance(10_000);
  expect(world.reconciled).toHaveLength(1);
});

test('reconciles a FluxSetup when a workload uses more than its grant', async () => {
  const world = await startedWorld();
  await world.change(undefined, fluxSetup('team'));
  world.reconciled.length = 0;
  const surplus = { amounts: new Map([['cpu', 1_000_000_000n]]), pods: 1, units: { core: 1 }, names: ['p'] };
  world.surpluses.set('node-1', new Map([['u', surplus]]));
  await world.clock.advance(1_000);
  await settle();
  expect(world.reconciled).toContain('science/team');
});

test('reconciles nothing after it was stopped', async () => {
  const world = await startedWorld();
  await world.change(undefined, fluxSetup('team'));
  world.rowChanged(rowIn('Waiting'));
  await world.controller.stop();
  world.reconciled.length = 0;
  world.rowChanged(rowIn('Waiting'));
  await world.clock.advance(10_000);
  expect(world.reconciled).toEqual([]);
});
