/**
 * What a replica does while it does not lead: it keeps the watches of the next term open and a copy of the rows, because
 * reading all objects and rows of a large cluster takes longer than everything else at the start of a term. Nothing is
 * decided on the copy: the term asks the database which rows changed, once it has its fence.
 */
import { messageOf } from '../errors';
import { RowMirror, type VersionedRows } from '../queue/row-mirror';
import { Informers, type InformersOptions } from '../shared/informers';
import { podFacts } from '../workloads/pod-facts';
import type { TermOptions } from './shared';
import type { WarmFluxion } from './warm-fluxion';

export interface StandbyOptions
  extends Required<Pick<TermOptions, 'client' | 'logger' | 'metrics' | 'time'>> {
  /** As of the term. */
  readonly kinds: InformersOptions['kinds'];
  /** Called when the first watches are opened, and not before. */
  readonly queue: () => VersionedRows;
  /** The Fluxion service of this replica, if it is kept equal to the rows. @default - it is not */
  readonly fluxion?: () => Pick<WarmFluxion, 'follow' | 'stop' | 'isWarm'>;
}

/** Milliseconds between two refreshes of the rows. */
const REFRESH_MS = 5_000;

/** What a term takes over. */
interface Warm {
  readonly informers: Informers;
  readonly mirror: RowMirror;
}

export class Standby {
  private warm: Warm | undefined;
  private fluxion: Pick<WarmFluxion, 'follow' | 'stop' | 'isWarm'> | undefined;
  private hasRows = false;
  private cancelRefresh = () => {};
  private stopped = false;

  constructor(private readonly options: StandbyOptions) {}

  /** Opens the watches and reads the rows, unless that was done. Nobody waits for them. */
  warmUp(): void {
    if (this.stopped || this.warm !== undefined) return;
    const informers = new Informers({ ...this.options, podFacts });
    this.warm = { informers, mirror: new RowMirror(this.options.queue(), informers.pool) };
    this.fluxion = this.options.fluxion?.();
    this.hasRows = false;
    informers.warmUp();
    void this.refresh(this.warm);
  }

  /** Whether the watches and the rows have been read, and Fluxion is equal to them, so that a term could start with them. */
  get isWarm(): boolean {
    return this.hasRows && this.warm?.informers.isSynced === true && this.fluxion?.isWarm !== false;
  }

  /** The watches for a term, which stops them at its end, and the rows; empty if there are none. */
  take(): Partial<Warm> {
    const { warm } = this;
    this.warm = undefined;
    this.fluxion?.stop();
    this.cancelRefresh();
    return warm ?? {};
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.take().informers?.stop();
  }

  private async refresh(warm: Warm): Promise<void> {
    const { logger, time } = this.options;
    try {
      const rows = await warm.mirror.refresh();
      if (this.warm === warm) this.hasRows = true;
      await this.fluxion?.follow(rows, warm.informers);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'reading the queue ahead failed, retrying');
    }
    if (this.warm === warm) this.cancelRefresh = time.clock.after(REFRESH_MS, () => void this.refresh(warm));
  }
}
