/** Groups of plain pods, their users, and the controllers that make some of their pods again. */
import { GROUP, GROUP_SIZE, WALLTIME } from '../../constructs/api/labels';
import { controllerOf } from '../../runtime/kubernetes/owner';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import { isGated } from '../../runtime/workloads/pod';
import type { SimulatedApiserver } from './simulated-apiserver';
import { PULLS, RUNS } from './simulated-cluster';

/** Pods that ask for the same. */
interface Kind {
  readonly pods: number;
  readonly cores: number;
}

export interface GroupShape {
  readonly kinds: readonly Kind[];
  /** Whether a controller makes each pod again that fails or is deleted. */
  readonly isOwned: boolean;
  /** Seconds. */
  readonly runs: number;
  /** Seconds for which the image of each pod is pulled, a second more of each that comes later. */
  readonly pulls: number;
  /** So many of its pods come only when somebody completes the group. */
  readonly missing: number;
}

interface Group {
  readonly name: string;
  readonly shape: GroupShape;
  size: number;
  /** What it was before the last edit. */
  formerSize: number;
  /** Cores of the pods that are to come. */
  readonly missing: number[];
}

/** Walltime of all groups: in these seconds each of them ends, whatever happens to its pods. */
export const GROUP_WALLTIME_SECONDS = 60;

export class SimulatedGroups {
  private readonly groups = new Map<string, Group>();
  private created = 0;

  constructor(
    private readonly apiserver: SimulatedApiserver,
    private readonly namespace: string,
  ) {}

  create(shape: GroupShape): void {
    const cores = shape.kinds.flatMap((kind) => Array.from({ length: kind.pods }, () => kind.cores));
    const name = `group-${this.groups.size}`;
    const now = Math.max(1, cores.length - shape.missing);
    const size = cores.length;
    const group = { name, shape, size, formerSize: size, missing: cores.slice(now) };
    this.groups.set(name, group);
    for (const each of cores.slice(0, now)) this.makePod(group, each);
  }

  /** The pods come that groups lack so far. */
  complete(): void {
    for (const group of this.groups.values())
      for (const cores of group.missing.splice(0)) this.makePod(group, cores);
  }

  deleteMember(pick: number): void {
    const pod = this.choose(pick);
    if (pod !== undefined) this.delete(pod);
  }

  /** A user deletes a pod and creates another one for its place. */
  replaceMember(pick: number): void {
    const pod = this.choose(pick);
    if (pod === undefined || controllerOf(pod) !== undefined) return;
    this.delete(pod);
    this.makePod(this.groupOf(pod), coresOf(pod));
  }

  /** One pod more than the group has places. */
  addMember(pick: number): void {
    const pod = this.choose(pick);
    if (pod !== undefined && controllerOf(pod) === undefined) this.makePod(this.groupOf(pod), coresOf(pod));
  }

  /** The user of a group that waits gives all of its pods another size, and makes or deletes the pod that this is about. */
  editSize(pick: number): void {
    const pod = this.choose(pick);
    if (pod === undefined || controllerOf(pod) !== undefined) return;
    const group = this.groupOf(pod);
    const own = this.pods().filter(({ metadata }) => metadata.labels?.[GROUP] === group.name);
    const grows = pick % 2 === 0 || group.size === 1;
    if (!own.every(isGated) || group.missing.length > 0) return;
    group.formerSize = group.size;
    group.size += grows ? 1 : -1;
    if (!grows) this.delete(pod);
    for (const each of own) if (grows || each !== pod) this.resize(each, group.size);
    if (grows) this.makePod(group, coresOf(pod));
  }

  private resize(pod: Pod, size: number): void {
    const annotations = { ...pod.metadata.annotations, [GROUP_SIZE]: String(size) };
    this.apiserver.store.put('pods', { ...pod, metadata: { ...pod.metadata, annotations } });
  }

  /** Controllers make again what has failed or is being deleted, as a ReplicaSet does. */
  replaceLost(): void {
    const pods = this.pods();
    for (const group of this.groups.values()) {
      if (!group.shape.isOwned) continue;
      const own = pods.filter((pod) => pod.metadata.labels?.[GROUP] === group.name);
      for (const { cores, pods: wanted } of group.shape.kinds) {
        const there = own.filter((pod) => coresOf(pod) === cores && isCounted(pod)).length;
        const awaited = group.missing.filter((each) => each === cores).length;
        for (let i = there + awaited; i < wanted; i++) this.makePod(group, cores);
      }
    }
  }

  /** What the group of this name asks for, and may have asked for before a watch showed the last edit. */
  asked(name: string): { readonly shape: GroupShape; readonly sizes: readonly number[] } {
    const { shape, size, formerSize } = this.groups.get(name)!;
    return { shape, sizes: [size, formerSize] };
  }

  /** All pods that name a group. */
  pods(): readonly Pod[] {
    return this.apiserver.store
      .list<Pod>('pods')
      .filter(
        ({ metadata }) => metadata.namespace === this.namespace && metadata.labels?.[GROUP] !== undefined,
      );
  }

  private groupOf(pod: Pod): Group {
    return this.groups.get(pod.metadata.labels?.[GROUP] ?? '')!;
  }

  private choose(pick: number): Pod | undefined {
    const pods = this.pods().filter(
      (pod) => !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined,
    );
    return pods[pick % pods.length];
  }

  private delete({ metadata: { namespace, name } }: Pod): void {
    this.apiserver.delete(podPath(namespace, name));
  }

  private makePod({ name, shape, size }: Group, cores: number): void {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name,
      uid: `owner-of-${name}`,
      controller: true,
    };
    this.apiserver.create(podPath(this.namespace), {
      metadata: {
        name: `${name}-${this.created++}`,
        labels: { [GROUP]: name },
        annotations: {
          [GROUP_SIZE]: String(size),
          [WALLTIME]: `${GROUP_WALLTIME_SECONDS}s`,
          [RUNS]: String(shape.runs),
          ...(shape.pulls > 0 && { [PULLS]: String(shape.pulls + (this.created % 3)) }),
        },
        ...(shape.isOwned && { ownerReferences: [owner] }),
      },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }],
      },
      status: { phase: 'Pending' },
    });
  }
}

function isCounted({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Failed';
}

function coresOf({ spec }: Pod): number {
  return Number(spec.containers[0]?.resources?.requests?.cpu);
}
