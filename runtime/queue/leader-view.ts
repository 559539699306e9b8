/**
 * What only the leader can say, because only it may ask Fluxion: it writes it into one row when somebody asks. Who asks and
 * who waits is told by NOTIFY, which a session that may only read can send as well. A notification is a hint: it can be lost
 * with its connection, or at a connection pooler, and then nobody answers in time.
 */
import type { FluxionState } from '../fluxion/types';
import type { Allocation } from '../resources/types';
import { FENCE } from './statements';

/** The leader's view between two passes. */
export interface LeaderView extends Pick<FluxionState, 'bootId' | 'nodes'> {
  /** Why Fluxion did not answer, or is about to be rebuilt. @default - it is in use */
  readonly stale?: string;
  /** The promises of the last pass. */
  readonly reservations: readonly {
    readonly uid: string;
    readonly jobid: number;
    readonly allocation: Allocation;
  }[];
  /** Node -> how Fluxion differs there from the leader's rows and nodes, as sentences. */
  readonly drift: Readonly<Record<string, readonly string[]>>;
}

export interface StoredView {
  readonly fence: number;
  /** Unix seconds of the database. */
  readonly at: number;
  /** Seconds since then. */
  readonly age: number;
  readonly view: LeaderView;
}

/** A subscription. */
export interface Listening {
  /** Resolves when nothing is missed any more. It never rejects, because a lost connection is replaced. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export interface LeaderViews {
  /** Calls back whenever somebody asks for the view. */
  onViewAsked(listener: () => void): Listening;
  /** Asks the leader for a new view. It changes nothing. */
  askView(): Promise<void>;
  /** Stores the view, and tells those who wait. */
  setView(fence: number, view: LeaderView): Promise<void>;
  /** Calls back whenever a view was stored. */
  onViewStored(listener: () => void): Listening;
  /** The last view of the present leader; undefined: there is none. */
  view(): Promise<StoredView | undefined>;
}

export const ASKED = 'fluxqueue_view_asked';
export const STORED = 'fluxqueue_view_stored';

export const ASK_VIEW = `SELECT pg_notify('${ASKED}', '')`;

/** Returns one row, or none if $1 is not the fence. */
export const SET_VIEW = `
WITH ${FENCE},
stored AS (
  INSERT INTO fluxqueue.leader_view AS v (fence, at, view) SELECT $1::bigint, clock_timestamp(), $2::jsonb FROM fence
  ON CONFLICT (one) DO UPDATE SET fence = excluded.fence, at = excluded.at, view = excluded.view
  RETURNING fence
)
SELECT pg_notify('${STORED}', '') FROM stored`;

export const VIEW = `
SELECT v.fence::float8 AS fence, extract(epoch FROM v.at)::float8 AS at,
  extract(epoch FROM clock_timestamp() - v.at)::float8 AS age, v.view
FROM fluxqueue.leader_view v JOIN fluxqueue.leader l ON l.fence = v.fence`;
