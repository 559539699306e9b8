/**
 * Random groups of plain pods under a whole controller, on a simulated cluster: pods come late, are deleted and replaced, nodes
 * come and go, and controllers die. No group ever has a part of what it asks for, and none waits for ever.
 */
import { GROUP } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import type { AllocatedNode } from '../../runtime/resources/types';
import fc, { cases } from '../fast-check';
import { SimulatedController } from '../fuzz/simulated-controller';
import { GROUP_WALLTIME_SECONDS, type GroupShape, SimulatedGroups } from '../fuzz/simulated-groups';
import { groupViolations, partialGrant } from '../invariants/groups';
import { doubleGrants } from '../invariants/log';

const CORE_UNITS = 1000 / parseConfig({}).units.cpuMillis;
const STEP_SECONDS = 0.25;

const kind = fc.record({ pods: fc.integer({ min: 1, max: 2 }), cores: fc.integer({ min: 1, max: 4 }) });
const shape: fc.Arbitrary<GroupShape> = fc.record({
  kinds: fc.uniqueArray(kind, { minLength: 1, maxLength: 4, selector: ({ cores }) => cores }),
  isOwned: fc.boolean(),
  runs: fc.integer({ min: 1, max: 20 }),
  pulls: fc.constantFrom(0, 0, 5, 70),
  missing: fc.constantFrom(0, 0, 1),
});
const pick = fc.nat(1_000);
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: fc.constant('create'), shape }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constantFrom('delete', 'replace', 'add', 'edit'), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom('complete', 'restart', 'add-node', 'remove-node') }),
  },
);
type Action =
  | { readonly does: 'create'; readonly shape: GroupShape }
  | { readonly does: 'delete' | 'replace' | 'add' | 'edit'; readonly pick: number }
  | { readonly does: 'complete' | 'restart' | 'add-node' | 'remove-node' };
const steps = fc.array(fc.tuple(action as fc.Arbitrary<Action>, fc.integer({ min: 0, max: 24 })), {
  minLength: 3,
  maxLength: 14,
});

class World {
  readonly controller = new SimulatedController();
  readonly groups = new SimulatedGroups(this.controller.apiserver, 'science');
  private checkedEvents = 0;

  /** Lets time pass and looks at all of it. */
  async pass(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.groups.replaceLost();
      await this.controller.seconds(STEP_SECONDS);
      this.check();
    }
  }

  async act(action: Action): Promise<void> {
    const { groups } = this;
    if (action.does === 'create') groups.create(action.shape);
    else if (action.does === 'delete') groups.deleteMember(action.pick);
    else if (action.does === 'replace') groups.replaceMember(action.pick);
    else if (action.does === 'add') groups.addMember(action.pick);
    else if (action.does === 'edit') groups.editSize(action.pick);
    else if (action.does === 'complete') groups.complete();
    else if (action.does === 'restart') await this.restart();
    else this.changeNodes(action.does === 'add-node');
    this.check();
  }

  private async restart(): Promise<void> {
    await this.controller.stop();
    await this.controller.start();
  }

  /** One node more than those that stay. */
  private changeNodes(add: boolean): void {
    const exists = this.controller.apiserver.store.get('nodes', 'node-2') !== undefined;
    if (add && !exists) this.controller.addNode('node-2');
    if (!add && exists) this.controller.removeNode('node-2');
  }

  private check(): void {
    const { queue } = this.controller;
    const latest = queue.events.slice(this.checkedEvents);
    this.checkedEvents = queue.events.length;
    const rows = new Map(queue.all.map((row) => [row.uid, row]));
    for (const { event, uid, detail } of latest) {
      if (event !== 'Allocated') continue;
      const { shape, sizes } = this.groups.asked(rows.get(uid)!.name);
      const cores = shape.kinds.map((each) => each.cores);
      const nodes = detail.nodes as readonly AllocatedNode[];
      const partial = sizes.map((size) => partialGrant(nodes, { size, cores, coreUnits: CORE_UNITS }));
      // The watch may show an edit later than the grant.
      if (!partial.includes(undefined)) expect(partial).toEqual([]);
    }
    expect(groupViolations({ pods: this.groups.pods(), rows: queue.all }, CORE_UNITS)).toEqual([]);
    expect(doubleGrants(queue.events)).toEqual([]);
  }

  /** Groups that wait although all that they ask for is there, or that are granted and do not end. */
  get stuck(): readonly string[] {
    const gated = (name: string) =>
      this.groups.pods().filter((pod) => pod.metadata.labels?.[GROUP] === name).length;
    return this.controller.queue.all
      .filter(({ phase, held, reason }) => phase !== 'Finished' && !held && reason !== 'Unsatisfiable')
      .map(
        ({ name, phase, reason, message }) => `${name} (${gated(name)} pods): ${phase} ${reason} ${message}`,
      );
  }
}

describe('groups of plain pods', () => {
  const { numRuns, milliseconds } = cases(15);

  test(
    'hold units for all of their pods or for none, start by their grant only, and never wait for ever',
    async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (taken) => {
          const world = new World();
          await world.controller.start();
          for (const [action, wait] of taken) {
            await world.act(action);
            await world.pass(wait);
          }
          world.groups.complete();
          // Each of them has run for its walltime, one after the other.
          for (let i = 0; i <= taken.length && world.stuck.length > 0; i++)
            await world.pass((GROUP_WALLTIME_SECONDS + 20) / STEP_SECONDS);
          expect(world.stuck).toEqual([]);
          await world.controller.close();
        }),
        { numRuns },
      );
    },
    milliseconds,
  );
});
