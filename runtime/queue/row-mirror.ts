/**
 * A standby's copy of the rows that are not Finished. To read 10,000 rows takes most of a second, to ask which of them
 * changed a small part of that: so the copy is refreshed before the term begins and once more when it has its fence.
 */
import { InternPool } from '../intern';
import { internedRow } from './interned-row';
import type { WorkloadRow } from './workload';

/** Identifies one version of a row: its transaction and place in the table, and the run of the server. */
export interface RowVersion {
  readonly uid: string;
  readonly version: string;
}

export interface VersionedRow {
  readonly version: string;
  readonly row: WorkloadRow;
}

export interface VersionedRows {
  /** The versions of all rows that are not Finished. */
  versions(): Promise<RowVersion[]>;
  /** The rows with these uids that are not Finished. */
  versioned(uids: readonly string[]): Promise<VersionedRow[]>;
}

export class RowMirror {
  private rows = new Map<string, VersionedRow>();
  private underWay: Promise<unknown> = Promise.resolve();

  /** @param pool what the rows share with other caches */
  constructor(
    private readonly queue: VersionedRows,
    private readonly pool = new InternPool(),
  ) {}

  /** Reads what has changed since the last call. The result is exact if nobody writes meanwhile. */
  refresh(): Promise<WorkloadRow[]> {
    const refreshed = this.underWay.then(() => this.read());
    this.underWay = refreshed.catch(() => undefined);
    return refreshed;
  }

  /** Refreshes for the last time: the rows are the caller's, and no copy of them is kept. */
  async handOver(): Promise<WorkloadRow[]> {
    const rows = await this.refresh();
    this.rows = new Map();
    return rows;
  }

  private async read(): Promise<WorkloadRow[]> {
    const versions = await this.queue.versions();
    const changed = versions.filter(({ uid, version }) => this.rows.get(uid)?.version !== version);
    const read = changed.length === 0 ? [] : await this.queue.versioned(changed.map(({ uid }) => uid));
    const interned = read.map(({ version, row }) => ({ version, row: internedRow(row, this.pool) }));
    const news = new Map(interned.map((versioned) => [versioned.row.uid, versioned]));
    const rows = new Map<string, VersionedRow>();
    for (const { uid, version } of versions) {
      const known = this.rows.get(uid);
      // A row that changed and is not among those that were read has finished meanwhile.
      const current = known?.version === version ? known : news.get(uid);
      if (current !== undefined) rows.set(uid, current);
    }
    this.rows = rows;
    return [...rows.values()].map(({ row }) => row);
  }
}
