/** The order of workloads in lists for people, in a terminal and in the browser. Pure functions. */

export interface Listed {
  /** Anything else, or nothing: it waits. */
  readonly phase?: string | undefined;
  readonly queue: string;
  /** Its place among those that wait in the queue. */
  readonly position?: number | undefined;
  /** ISO 8601, as Kubernetes writes it. */
  readonly created: string;
}

/** `Ready` is listed with what runs: its nodes are granted. */
const RANKS: Readonly<Record<string, number>> = { Running: 0, Ready: 0, Waiting: 1, Finished: 2 };
const WAITING = RANKS.Waiting!;
const FINISHED = RANKS.Finished!;

const rankOf = ({ phase }: Pick<Listed, 'phase'>) => RANKS[phase ?? ''] ?? WAITING;

export function holdsNodes(workload: Pick<Listed, 'phase'>): boolean {
  return rankOf(workload) < WAITING;
}

export function isActive(workload: Pick<Listed, 'phase'>): boolean {
  return rankOf(workload) < FINISHED;
}

/** What runs, then what waits by its position, then what has ended, newest first; each by queue. */
export function compareListed(a: Listed, b: Listed): number {
  const oldestFirst = compareTexts(a.created, b.created);
  return (
    rankOf(a) - rankOf(b) ||
    compareTexts(a.queue, b.queue) ||
    (a.position ?? Number.MAX_SAFE_INTEGER) - (b.position ?? Number.MAX_SAFE_INTEGER) ||
    (isActive(a) ? oldestFirst : -oldestFirst)
  );
}

/** As an apiserver lists names. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
