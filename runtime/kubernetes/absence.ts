/** Objects that a process can do without while it may not list them, or while the apiserver does not serve their kind. */
import type { Clock } from '../clock';
import { messageOf } from '../errors';
import type { Logger } from '../observability/log';
import { isStatus } from './errors';

export interface AbsenceOptions {
  /** The path of the collection: `jobs()`. */
  readonly path: string;
  /**
   * Whether the process can do without these objects while it may not list them, as with the rights of an earlier version
   * during a rollback, or while the apiserver does not serve their kind. Until the first list there are none; what is listed later is
   * reported as new. After a list they stay as they were. @default false
   */
  readonly dispensable?: boolean;
  /**
   * Asked when the apiserver does not serve dispensable objects: whether there can be none of them, because it does not serve
   * them in any other version either. @default - nobody knows
   */
  readonly haveGone?: () => Promise<boolean>;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/** For so long an apiserver that has just started may refuse what is allowed: it has not read its roles yet. */
const FORBIDDEN_MILLISECONDS = 5_000;

export class Absence {
  readonly #options: AbsenceOptions;
  readonly #clock: Clock;
  /** Since when every attempt to list or to watch was forbidden. */
  #forbiddenSince: number | undefined;
  #haveGone = false;

  constructor(options: AbsenceOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Whether there are no such objects at all. */
  get haveGone(): boolean {
    return this.#haveGone;
  }

  /** Whether the last attempt was forbidden, so that it is decided soon whether to go on without. */
  get isForbidden(): boolean {
    return this.#forbiddenSince !== undefined;
  }

  /** Whether the apiserver does not serve these objects. */
  isUnserved(error: unknown): boolean {
    return this.#options.dispensable === true && isStatus(error, 404);
  }

  /** The apiserver has answered with objects. */
  end(): void {
    this.#forbiddenSince = undefined;
    this.#haveGone = false;
  }

  /** Listing or watching has failed. @returns why to go on without these objects; undefined: that is not decided, or not possible */
  async decide(error: unknown): Promise<string | undefined> {
    const { dispensable, haveGone } = this.#options;
    const now = this.#clock.now();
    const isForbidden = dispensable === true && isStatus(error, 403);
    this.#forbiddenSince = isForbidden ? (this.#forbiddenSince ?? now) : undefined;
    if (isForbidden) {
      // The kind may be served again.
      this.#haveGone = false;
      const isRefused = now - this.#forbiddenSince! >= FORBIDDEN_MILLISECONDS;
      return isRefused ? 'not allowed to list these objects' : undefined;
    }
    if (!this.isUnserved(error)) return undefined;
    if (haveGone !== undefined) await this.#learn(haveGone);
    return `the apiserver does not serve these objects${this.#haveGone ? '' : ' in this version'}`;
  }

  async #learn(haveGone: () => Promise<boolean>): Promise<void> {
    const { logger, path } = this.#options;
    try {
      this.#haveGone = await haveGone();
    } catch (error) {
      logger.debug({ path, error: messageOf(error) }, 'it is not known whether these objects exist');
    }
  }
}
