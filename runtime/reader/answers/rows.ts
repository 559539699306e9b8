/** The rows as answers read them: a copy that is refreshed when somebody asks, at most once a second. */
import type { Clock } from '../../clock';
import type { Config } from '../../config';
import { type FairUsage, UsageCache } from '../../queue/fair-usage';
import { Outcomes } from '../../queue/outcomes';
import { RowMirror, type VersionedRows } from '../../queue/row-mirror';
import type { BillingWeights } from '../../queue/settings';
import type { Queue } from '../../queue/store';
import type { Ended, WorkloadRow } from '../../queue/workload';
import { Recent } from './recent';

export interface RowsOptions {
  /** The tables; other ones after they were closed meanwhile. */
  readonly queue: () => Pick<Queue, 'shares' | 'outcomes' | keyof VersionedRows>;
  readonly config: Pick<Config, 'units' | 'fairShare'>;
  readonly clock: Clock;
}

/** Milliseconds for which the rows count as present. */
const FRESH_MS = 1_000;

export class Rows {
  private readonly mirror: RowMirror;
  private readonly usage: UsageCache;
  private readonly listeners: ((row: WorkloadRow) => void)[] = [];
  private rows: ReadonlyMap<string, WorkloadRow> = new Map();
  private outcomes = new Outcomes();
  private readonly recent: Recent<void>;

  constructor(private readonly options: RowsOptions) {
    const { queue, config } = options;
    this.mirror = new RowMirror({
      versions: () => queue().versions(),
      versioned: (uids) => queue().versioned(uids),
    });
    this.usage = new UsageCache({ units: config.units, halfLifeSeconds: config.fairShare.halfLifeSeconds });
    this.recent = new Recent(options.clock, FRESH_MS, () => this.read());
  }

  /** Reads what has changed, unless that was done a moment ago. */
  refresh(): Promise<void> {
    return this.recent.get();
  }

  /** Calls the listener with each row that a refresh found changed or ended. */
  onChange(listener: (row: WorkloadRow) => void): void {
    this.listeners.push(listener);
  }

  byUid(uid: string): WorkloadRow | undefined {
    return this.rows.get(uid);
  }

  /** The rows that are not Finished. */
  active(): Iterable<WorkloadRow> {
    return this.rows.values();
  }

  outcomeOf(namespace: string, name: string): Ended | 'active' | undefined {
    return this.outcomes.of({ namespace, name });
  }

  fairUsage(now: number, weightsOf: (queue: string) => BillingWeights): FairUsage {
    return this.usage.at(now, this.rows.values(), weightsOf);
  }

  private async read(): Promise<void> {
    const { queue, config } = this.options;
    const [active, shares] = await Promise.all([
      this.mirror.refresh(),
      config.fairShare.enabled ? queue().shares() : [],
    ]);
    const outcomes = new Outcomes();
    for (const row of active) outcomes.apply(undefined, row);
    await outcomes.lookUp((names) => queue().outcomes(names));
    const before = this.rows;
    this.rows = new Map(active.map((row) => [row.uid, row]));
    this.outcomes = outcomes;
    this.usage.load(shares);
    this.report(before);
  }

  private report(before: ReadonlyMap<string, WorkloadRow>): void {
    const changed = [...this.rows.values()].filter((row) => before.get(row.uid) !== row);
    const ended = [...before.values()].filter(({ uid }) => !this.rows.has(uid));
    for (const row of [...changed, ...ended]) for (const listener of this.listeners) listener(row);
  }
}
