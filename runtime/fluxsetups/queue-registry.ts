/** The existing queues (the stack's own and one per FluxSetup), and the queue of each workload. */
import { FluxqError } from '../errors';
import type { FluxSetupObject } from '../kubernetes/custom-resources';
import type { QueueSettings } from '../queue/settings';
import { type QueueRequest, type Queues, queueName } from '../shared/queues';
import { settingsOf } from './queue-settings';

/** The part of a FluxSetup that decides which workloads it takes. */
export interface QueueCandidate {
  readonly name: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Whether it lets the workloads of its namespace name the stack's own queue. */
  readonly allowsStackQueue: boolean;
}

/**
 * The queue of a workload. A queue that does not exist (yet, or any more) is a valid answer: the workload waits for it. So what
 * comes into a cluster in one go with its namespace waits for the quota that the label of the namespace names, in any order.
 * @param named the queue that the label of its namespace names
 * @param candidates the FluxSetups of the workload's namespace
 * @param stackQueue name of the stack's own queue; undefined if the stack has none
 */
export function queueOf(
  { namespace, requested, named, current }: QueueRequest & { readonly named?: string | undefined },
  candidates: readonly QueueCandidate[],
  stackQueue: string | undefined,
): string {
  const isStackQueue = (name: string) =>
    name === stackQueue && !candidates.some((candidate) => candidate.name === name);
  if (requested !== undefined)
    return isStackQueue(requested) && allowStackQueue(candidates, named, stackQueue)
      ? requested
      : queueName(namespace, requested);
  // Only administrators label namespaces, and they may name any queue.
  if (named !== undefined) return isStackQueue(named) ? named : queueName(namespace, named);
  const chosen = defaultOf(candidates);
  if (chosen !== undefined) return queueName(namespace, chosen.name);
  // Its FluxSetup was deleted: it stays in that queue, because the stack's own queue has no quota.
  if (current?.startsWith(queueName(namespace, '')) === true) return current;
  return stackQueue ?? queueName(namespace, DEFAULT_NAME);
}

/** The FluxSetups of a namespace are its limits, also one that its label names and that is on its way: no user leaves them by another name. */
function allowStackQueue(
  candidates: readonly QueueCandidate[],
  named: string | undefined,
  stackQueue: string | undefined,
): boolean {
  if (candidates.some(({ allowsStackQueue }) => allowsStackQueue)) return true;
  return candidates.length === 0 && (named === undefined || named === stackQueue);
}

/** The FluxSetup of this name takes the workloads that name no queue. Without any FluxSetup they wait for it. */
const DEFAULT_NAME = 'default';

function defaultOf(candidates: readonly QueueCandidate[]): QueueCandidate | undefined {
  return candidates.find(({ name }) => name === DEFAULT_NAME) ?? candidates.toSorted(byAge)[0];
}

function byAge(a: QueueCandidate, b: QueueCandidate): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** The result of reading all FluxSetups. */
interface Snapshot {
  readonly settings: ReadonlyMap<string, QueueSettings>;
  /** By queue: why its FluxSetup is invalid. */
  readonly problems: ReadonlyMap<string, string>;
  /** By namespace. */
  readonly candidates: ReadonlyMap<string, readonly QueueCandidate[]>;
}

export class QueueRegistry implements Queues {
  private current: Snapshot | undefined;
  /** Names of queues that exist or existed. */
  private readonly known = new Set<string>();

  /**
   * @param stackQueue the stack's own queue. Its walltimes also plan workloads whose queue does not exist
   * @param isStackQueueEnabled whether workloads may be in the stack's own queue
   * @param fluxSetups the current FluxSetups
   * @param namespaceQueue the queue that the label of a namespace names for its workloads
   */
  constructor(
    private readonly stackQueue: QueueSettings,
    private readonly isStackQueueEnabled: boolean,
    private readonly fluxSetups: () => readonly FluxSetupObject[],
    private readonly namespaceQueue: (namespace: string) => string | undefined = () => undefined,
  ) {}

  /** A FluxSetup was created, changed or deleted. */
  invalidate(): void {
    this.current = undefined;
  }

  all(): readonly QueueSettings[] {
    return [...this.snapshot.settings.values()];
  }

  byName(name: string): QueueSettings | undefined {
    return this.snapshot.settings.get(name);
  }

  /** Why the FluxSetup of this queue is invalid; undefined if it is valid. */
  problemOf(name: string): string | undefined {
    return this.snapshot.problems.get(name);
  }

  /** A row from before this term is in the queue, so it may be the queue of a FluxSetup that was deleted. */
  remember(name: string): void {
    this.known.add(name);
  }

  queueOf({ namespace, requested, current }: QueueRequest): string {
    const candidates = this.snapshot.candidates.get(namespace) ?? [];
    // A queue that never existed, because its name was misspelled, does not keep the workload.
    const known = current !== undefined && this.known.has(current) ? current : undefined;
    const stackQueue = this.isStackQueueEnabled ? this.stackQueue.name : undefined;
    const named = this.namespaceQueue(namespace);
    return queueOf({ namespace, requested, named, current: known }, candidates, stackQueue);
  }

  refusesStackQueue({ namespace, requested }: Pick<QueueRequest, 'namespace' | 'requested'>): boolean {
    const candidates = this.snapshot.candidates.get(namespace) ?? [];
    const isStackQueue = this.isStackQueueEnabled && requested === this.stackQueue.name;
    if (!isStackQueue || candidates.some(({ name }) => name === requested)) return false;
    return !allowStackQueue(candidates, this.namespaceQueue(namespace), this.stackQueue.name);
  }

  planOf(name: string): QueueSettings {
    return this.byName(name) ?? this.stackQueue;
  }

  private get snapshot(): Snapshot {
    this.current ??= this.read();
    return this.current;
  }

  private read(): Snapshot {
    const settings = new Map<string, QueueSettings>();
    const problems = new Map<string, string>();
    if (this.isStackQueueEnabled) settings.set(this.stackQueue.name, this.stackQueue);
    const objects = this.fluxSetups();
    for (const object of objects) {
      const name = queueName(object.metadata.namespace ?? '', object.metadata.name);
      this.known.add(name);
      try {
        settings.set(name, settingsOf(object, this.stackQueue.priorityWeights));
      } catch (error) {
        if (!(error instanceof FluxqError)) throw error;
        problems.set(name, error.message);
      }
    }
    const candidates = Map.groupBy(objects.map(candidateOf), ({ namespace }) => namespace);
    return { settings, problems, candidates };
  }
}

function candidateOf({ metadata, spec }: FluxSetupObject) {
  const { name, namespace = '', creationTimestamp: createdAt } = metadata;
  return { name, namespace, createdAt, allowsStackQueue: spec.allowStackQueue ?? false };
}
