/** Tests of one suite that wait most of the time run side by side, each in a namespace and on nodes of its own. */
import type { NodeShape } from '../cluster/nodes';
import { OWNER_LABEL, owned } from './placed';
import type { Fixture } from './suite';
import { Namespace } from './workloads';

export interface Share {
  readonly science: Namespace;
  /** Names of its nodes. */
  readonly nodes: readonly string[];
  /** Selects its nodes. Every pod that no other field places needs it, so that it stays off the nodes of other tests. */
  readonly podSpec: Readonly<Record<string, unknown>>;
}

interface SharedTest {
  readonly title: string;
  readonly run: (share: Share) => Promise<void>;
}

export class SideBySide {
  private readonly tests: SharedTest[] = [];

  constructor(
    private readonly getFixture: () => Fixture,
    /** The nodes of each test. */
    private readonly shapes: readonly NodeShape[],
  ) {}

  test(title: string, run: SharedTest['run']): void {
    this.tests.push({ title, run });
  }

  /** Declares the tests; all of them start before the first one is awaited, after `before`. */
  declare(before: () => Promise<unknown>): void {
    const outcomes = new Map<SharedTest, Promise<void>>();
    beforeAll(async () => {
      await before();
      const nodes = await this.addNodes();
      for (const [i, one] of this.tests.entries()) {
        const outcome = this.play(one, `science-${i}`, nodes[i]!);
        // It fails in its own test, not before.
        outcome.catch(() => undefined);
        outcomes.set(one, outcome);
      }
    });
    for (const one of this.tests) test(one.title, () => outcomes.get(one)!);
  }

  /** The names of the nodes of each test, of which the queue takes the first ones first. */
  private async addNodes(): Promise<readonly (readonly string[])[]> {
    const { cluster } = this.getFixture().stack;
    const names: string[][] = this.tests.map(() => []);
    for (const shape of this.shapes) {
      const added = await cluster.addNodesOf(this.tests.map((_, i) => owned(shape, `science-${i}`)));
      for (const [i, name] of added.entries()) names[i]!.push(name);
    }
    return names;
  }

  private async play({ run }: SharedTest, name: string, nodes: readonly string[]): Promise<void> {
    const science = await Namespace.create(this.getFixture, name);
    await run({ science, nodes, podSpec: { nodeSelector: { [OWNER_LABEL]: name } } });
  }
}
