import type { WorkloadRow } from './workload';

type Named = Pick<WorkloadRow, 'kind' | 'namespace' | 'name'>;

/** The uids of active rows by kind and name: two of a name until the end of the first one is recorded. */
export class RowNames {
  private readonly newest = new Map<string, string>();
  /** Nearly always empty: arrays for all names would cost memory. */
  private readonly earlier = new Map<string, readonly string[]>();

  /** The newest first. */
  uidsOf(named: Named): readonly string[] {
    const key = keyOf(named);
    const newest = this.newest.get(key);
    const earlier = this.earlier.get(key) ?? [];
    return newest === undefined ? earlier : [newest, ...earlier];
  }

  /** Each row once. */
  add(row: Named & Pick<WorkloadRow, 'uid'>): void {
    const uids = this.uidsOf(row);
    const key = keyOf(row);
    this.newest.set(key, row.uid);
    if (uids.length > 0) this.earlier.set(key, uids);
  }

  remove(row: Named & Pick<WorkloadRow, 'uid'>): void {
    const key = keyOf(row);
    if (this.newest.get(key) === row.uid) this.newest.delete(key);
    const earlier = this.earlier.get(key)?.filter((uid) => uid !== row.uid);
    if (earlier === undefined || earlier.length === 0) this.earlier.delete(key);
    else this.earlier.set(key, earlier);
  }

  clear(): void {
    this.newest.clear();
    this.earlier.clear();
  }
}

function keyOf({ kind, namespace, name }: Named): string {
  // In one piece, because it is kept.
  return [kind, namespace, name].join('/');
}
