/** The queues there are, the stack's own and one per FluxSetup, and which one a workload is in. */
import { FluxqError } from '../errors';
import type { QueueSettings } from '../queue/settings';
import type { QueueChoice, QueueRequest } from '../workloads/submission';
import { type FluxSetupObject, queueName, settingsOf } from './queue-settings';

/** A FluxSetup, as far as it decides who goes where. */
export interface Setup {
  readonly name: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

/**
 * The queue of a workload, which may not exist (yet, or any more): it waits for it then.
 * @param setups those of its namespace
 * @param own name of the stack's own queue; undefined: there is none
 */
export function queueOf(
  { namespace, requested, current }: QueueRequest,
  setups: readonly Setup[],
  own: string | undefined,
): string {
  if (requested !== undefined) {
    const isOwn = requested === own && !setups.some(({ name }) => name === requested);
    return isOwn ? requested : queueName(namespace, requested);
  }
  const chosen = defaultOf(setups);
  if (chosen !== undefined) return queueName(namespace, chosen.name);
  // Its FluxSetup is gone: held in its place, not set free into a queue without a quota.
  if (current?.startsWith(queueName(namespace, '')) === true) return current;
  return own ?? queueName(namespace, DEFAULT);
}

/** Of several FluxSetups the one of this name is for workloads that name none; where there is none they wait for it. */
const DEFAULT = 'default';

function defaultOf(setups: readonly Setup[]): Setup | undefined {
  return setups.find(({ name }) => name === DEFAULT) ?? setups.toSorted(byAge)[0];
}

function byAge(a: Setup, b: Setup): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** What the FluxSetups say together; made anew when it is first asked for after a change. */
interface View {
  readonly settings: ReadonlyMap<string, QueueSettings>;
  /** Queue -> why its FluxSetup makes none. */
  readonly problems: ReadonlyMap<string, string>;
  readonly setups: ReadonlyMap<string, readonly Setup[]>;
}

export class QueueRegistry implements QueueChoice {
  private current: View | undefined;
  /** Names of queues that are there or were. */
  private readonly known = new Set<string>();

  /**
   * @param own the stack's own queue; its walltimes plan what waits for a queue, too
   * @param hasOwn whether workloads may be in it
   * @param objects the FluxSetups as they are now
   */
  constructor(
    private readonly own: QueueSettings,
    private readonly hasOwn: boolean,
    private readonly objects: () => readonly FluxSetupObject[],
  ) {}

  /** A FluxSetup came, changed or went. */
  changed(): void {
    this.current = undefined;
  }

  /** Every queue that is there. */
  all(): readonly QueueSettings[] {
    return [...this.view.settings.values()];
  }

  /** Undefined: there is no such queue. */
  byName(name: string): QueueSettings | undefined {
    return this.view.settings.get(name);
  }

  /** Why the FluxSetup of this queue makes none. */
  problemOf(name: string): string | undefined {
    return this.view.problems.get(name);
  }

  /** A row of before is in it: it may have been a queue that is gone. */
  remember(name: string): void {
    this.known.add(name);
  }

  queueOf({ namespace, requested, current }: QueueRequest): string {
    const setups = this.view.setups.get(namespace) ?? [];
    // A name that its user had wrong, and takes back, holds nothing.
    const known = current !== undefined && this.known.has(current) ? current : undefined;
    return queueOf({ namespace, requested, current: known }, setups, this.hasOwn ? this.own.name : undefined);
  }

  /** By which a workload of this queue is planned, also while the queue is not there. */
  planOf(name: string): QueueSettings {
    return this.byName(name) ?? this.own;
  }

  private get view(): View {
    this.current ??= this.read();
    return this.current;
  }

  private read(): View {
    const settings = new Map<string, QueueSettings>();
    const problems = new Map<string, string>();
    if (this.hasOwn) settings.set(this.own.name, this.own);
    const objects = this.objects();
    for (const object of objects) {
      const name = queueName(object.metadata.namespace ?? '', object.metadata.name);
      this.known.add(name);
      try {
        settings.set(name, settingsOf(object));
      } catch (error) {
        if (!(error instanceof FluxqError)) throw error;
        problems.set(name, error.message);
      }
    }
    const setups = Map.groupBy(objects.map(setupOf), ({ namespace }) => namespace);
    return { settings, problems, setups };
  }
}

function setupOf({ metadata: { name, namespace = '', creationTimestamp } }: FluxSetupObject) {
  return { name, namespace, createdAt: creationTimestamp };
}
