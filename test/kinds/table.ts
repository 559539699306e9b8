/**
 * The table of workload kinds: of each kind two gangs that do not fit beside each other, and one that is deleted while it
 * waits. The first is suspended while it runs, the second takes its nodes, and both end; then all are deleted.
 */
import { OWNER_ANNOTATION } from '../../constructs/api/labels';
import type { WorkloadKind } from '../../constructs/api/workload-kinds';
import { messageOf } from '../../runtime/errors';
import { fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { ifFound } from '../../runtime/kubernetes/errors';
import { withField } from '../../runtime/kubernetes/fields';
import { type KindObject, kindPath } from '../../runtime/kubernetes/kind-fields';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { placementOf } from '../../runtime/workloads/assignment';
import { isGated } from '../../runtime/workloads/pod';
import type { KubeObject } from '../cluster/api';
import type { ClusterOptions } from '../cluster/cluster-options';
import { waitFor } from '../cluster/wait';
import { yamlDocuments } from '../docs/snippets';
import type { Fixture } from '../stack/suite';
import { Namespace } from '../stack/workloads';
import { untilAdmitted } from './controllers';
import { gang } from './objects';

/** Room for one gang: a pod of it takes more than half of each node. */
export const TABLE_CLUSTER: ClusterOptions = { nodes: 5, nodeShape: { cpu: '8' } };
const WORKERS = 4;
const CORES = 6;
const PODS = WORKERS + 1;

export interface KindFigures {
  readonly kinds: number;
  /** Gangs that ran and succeeded: two of each kind. */
  readonly finished: number;
  /** Pods on a node that their pod set was not granted, or beyond the places there. */
  readonly misplaced: number;
  /** Gangs that held a part while another one had the rest. */
  readonly split: number;
  /** Kinds of which something that had to come did not come. */
  readonly stuck: number;
  /** Pods, FluxJobs and rows that were left after all objects were deleted. */
  readonly leaked: number;
}

/** Whether two gangs of each kind finished, and nothing went wrong. */
export const isWell = ({ kinds, finished, ...wrong }: KindFigures): boolean =>
  finished === 2 * kinds && Object.values(wrong).every((count) => count === 0);

const NONE: KindFigures = { kinds: 0, finished: 0, misplaced: 0, split: 0, stuck: 0, leaked: 0 };

export async function playKinds(
  fixture: Fixture,
  kinds: readonly WorkloadKind[],
  progress: (line: string) => void,
): Promise<KindFigures> {
  let total = NONE;
  for (const kind of kinds) {
    const play = await KindPlay.on(fixture, kind, progress);
    const figures = await play.run();
    progress(`${kind.kind}: ${JSON.stringify(figures)}`);
    total = sum(total, figures);
  }
  return total;
}

function sum(left: KindFigures, right: KindFigures): KindFigures {
  const keys = Object.keys(NONE) as (keyof KindFigures)[];
  return Object.fromEntries(keys.map((key) => [key, left[key] + right[key]])) as unknown as KindFigures;
}

class KindPlay {
  private readonly figures = { ...NONE, kinds: 1 };

  static async on(fixture: Fixture, kind: WorkloadKind, progress: (line: string) => void): Promise<KindPlay> {
    const namespace = await Namespace.create(() => fixture, `kind-${kind.plural}`);
    await untilAdmitted(fixture.stack.cluster, namespace.name, [kind]);
    return new KindPlay(fixture, kind, namespace, progress);
  }

  private constructor(
    private readonly fixture: Fixture,
    private readonly kind: WorkloadKind,
    private readonly namespace: Namespace,
    private readonly progress: (line: string) => void,
  ) {}

  async run(): Promise<KindFigures> {
    const made: KindObject[] = [];
    try {
      await this.play(made);
      await this.playExamples(made);
    } catch (error) {
      this.stuck(error);
    }
    await this.clear(made);
    return this.figures;
  }

  /** What the manual shows of the kind runs as it is. */
  private async playExamples(made: KindObject[]): Promise<void> {
    const { group, version, kind } = this.kind;
    const documents = yamlDocuments().map(({ document }) => document as KubeObject);
    const isOf = ({ apiVersion, kind: of }: KubeObject) =>
      apiVersion === `${group}/${version}` && of === kind;
    for (const example of documents.filter(isOf)) {
      const shown = await this.apply(example);
      made.push(shown);
      const { result } = await waitFor(`${shown.metadata.name} to be Finished`, async () => {
        const row = await this.namespace.row(shown);
        if (row?.phase === 'Finished') return row;
        await this.endPods(shown);
        return undefined;
      });
      if (result !== 'Succeeded') throw new Error(`the example ${shown.metadata.name} ended as ${result}`);
      await this.delete(shown);
    }
  }

  private async play(made: KindObject[]): Promise<void> {
    for (const name of ['left', 'right', 'dropped']) made.push(await this.create(name));
    const [left, right, dropped] = made as [KindObject, KindObject, KindObject];
    const running = await waitFor('one of them to run', async () => {
      const rows = await Promise.all([left, right, dropped].map((each) => this.namespace.row(each)));
      return rows.find((row) => row?.phase === 'Running');
    });
    const first = made.find(({ metadata }) => metadata.uid === running.uid)!;
    const [second, third] = made.filter((each) => each !== first) as [KindObject, KindObject];
    await this.untilPlaced(first);
    await this.checkWaits([second, third]);
    await this.delete(third);
    // Its user stops the first one: its pods leave, and the second one has the nodes.
    await this.suspend(first, true);
    await this.namespace.phase(first, 'Waiting', 'Held');
    await this.untilPlaced(second);
    await this.suspend(first, false);
    await this.checkWaits([first]);
    await this.finish(second);
    await this.untilPlaced(first);
    await this.finish(first);
  }

  private async create(name: string): Promise<KindObject> {
    const metadata = { annotations: { 'fluxqueue/walltime': '1h' } };
    return this.apply(gang(this.kind, name, { workers: WORKERS, cores: CORES, metadata }));
  }

  private async apply(object: KubeObject): Promise<KindObject> {
    const made = await this.fixture.client.create<KindObject>(
      kindPath(this.kind)(this.namespace.name),
      object,
    );
    this.namespace.uids.push(made.metadata.uid);
    return made;
  }

  private async suspend({ metadata: { name } }: KindObject, value: boolean): Promise<void> {
    const body = withField({}, this.kind.suspend, value) as object;
    await this.fixture.client.patch(kindPath(this.kind)(this.namespace.name, name), body, 'merge');
  }

  private async delete({ metadata: { name } }: KindObject): Promise<void> {
    const path = kindPath(this.kind)(this.namespace.name, name);
    await ifFound(this.fixture.client.delete(path, { propagationPolicy: 'Background' }));
  }

  /** Resolves when all pods run, and counts those that run elsewhere than they were granted. */
  private async untilPlaced(object: KindObject): Promise<void> {
    const row = await this.namespace.phase(object, 'Running');
    const pods = await waitFor(`the pods of ${object.metadata.name} to run`, async () => {
      const found = (await this.podsOf(object)).filter(({ status }) => status?.phase === 'Running');
      return found.length === PODS && found;
    });
    this.figures.misplaced += misplacedPods(this.kind, row, pods);
  }

  /** Those that wait have no place, and no pod that could start. */
  private async checkWaits(waiting: readonly KindObject[]): Promise<void> {
    for (const object of waiting) {
      const row = await this.namespace.row(object);
      const started = (await this.podsOf(object)).some((pod) => !isGated(pod) && !isLeaving(pod));
      if ((row?.allocation ?? null) !== null || started) this.figures.split++;
    }
  }

  private async finish(object: KindObject): Promise<void> {
    await this.endPods(object);
    const { result } = await this.namespace.phase(object, 'Finished');
    if (result === 'Succeeded') this.figures.finished++;
    else throw new Error(`${object.metadata.name} ended as ${result}`);
  }

  /** Its pods that run succeed. */
  private async endPods(object: KindObject): Promise<void> {
    for (const { metadata, status } of await this.podsOf(object)) {
      if (status?.phase !== 'Running') continue;
      const path = podPath(this.namespace.name, metadata.name, 'status');
      await this.fixture.client.patch(path, { status: { phase: 'Succeeded' } }, 'merge');
    }
  }

  private async podsOf({ metadata: { name, uid } }: KindObject): Promise<readonly Pod[]> {
    const owner = `${this.kind.kind}/${name}/${uid}`;
    return (await this.namespace.pods()).filter(
      ({ metadata }) => metadata.annotations?.[OWNER_ANNOTATION] === owner,
    );
  }

  /** Deletes all. What is still there when it had time to go is a leak. */
  private async clear(made: readonly KindObject[]): Promise<void> {
    try {
      for (const object of made) await this.delete(object);
      await waitFor(`nothing of ${this.kind.kind} to be left`, async () => (await this.left(made)) === 0);
    } catch (error) {
      this.stuck(error);
      this.figures.leaked += await this.left(made);
    }
  }

  private async left(made: readonly KindObject[]): Promise<number> {
    const { client, queue } = this.fixture;
    const { items } = await client.list<KindObject>(fluxJobs(this.namespace.name));
    const uids = new Set(made.map(({ metadata }) => metadata.uid));
    const rows = (await queue.active()).filter(({ uid }) => uids.has(uid));
    return (await this.namespace.pods()).length + items.length + rows.length;
  }

  private stuck(error: unknown): void {
    this.progress(`${this.kind.kind}: ${messageOf(error)}`);
    this.figures.stuck = 1;
  }
}

const isLeaving = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

/** Pods on a node beyond the places of their set there. */
export function misplacedPods({ podSetLabel }: WorkloadKind, row: WorkloadRow, pods: readonly Pod[]): number {
  const setOf = ({ metadata }: Pod) => (metadata.labels?.[podSetLabel] ?? '').toLowerCase();
  let beyond = 0;
  for (const [set, members] of Map.groupBy(pods, setOf)) {
    const places = new Map(placementOf(row, set).map(({ node, pods: count }) => [node, count]));
    for (const { spec } of members) {
      const left = places.get(spec.nodeName ?? '') ?? 0;
      if (left === 0) beyond++;
      else places.set(spec.nodeName!, left - 1);
    }
  }
  return beyond;
}
