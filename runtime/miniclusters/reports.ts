/** What lead brokers last reported of what runs inside their MiniClusters. */
import { isDeepStrictEqual } from 'node:util';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import type { MiniCluster } from './resource';

export type FluxNumbers = NonNullable<MiniClusterStatus['flux']>;

interface Report {
  readonly numbers: FluxNumbers;
  /** Unix seconds. */
  readonly at: number;
}

/** Seconds after which numbers count as wrong. */
export const STALE_S = 60;

export class Reports {
  /** By the uid of the MiniCluster. */
  private readonly latest = new Map<string, Report>();
  private readonly begun: number;

  /** @param now Unix seconds */
  constructor(private readonly now: () => number) {
    this.begun = now();
  }

  /** @returns whether the numbers changed */
  record(uid: string, numbers: FluxNumbers): boolean {
    for (const [old, { at }] of this.latest) {
      if (this.isFresh(at)) break;
      this.latest.delete(old);
    }
    const before = this.latest.get(uid)?.numbers;
    // The last one to report is the last one in the map.
    this.latest.delete(uid);
    this.latest.set(uid, { numbers, at: this.now() });
    return !isDeepStrictEqual(before, numbers);
  }

  /** The numbers of the last minute. Those that an earlier leader wrote stay until the lead broker has found this one. */
  of({ metadata: { uid }, status }: MiniCluster): FluxNumbers | undefined {
    const report = this.latest.get(uid);
    if (report !== undefined && this.isFresh(report.at)) return report.numbers;
    return this.isFresh(this.begun) ? status?.flux : undefined;
  }

  private isFresh(at: number): boolean {
    return this.now() - at < STALE_S;
  }
}
