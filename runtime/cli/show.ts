/**
 * Shows what a user's command reads: once, or with `--watch` for as long as it changes. The apiserver tells of changes
 * (kubernetes/reflector), which also reads all again after a lost connection.
 */
import { constants } from 'node:os';
import { pause, systemClock } from '../clock';
import { folded, plain } from '../columns';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { Informer } from '../kubernetes/informer';
import type { Selection } from '../kubernetes/query';
import type { KubernetesObject } from '../kubernetes/types';
import { Changes, linesOf, type Picture, Screen } from './picture';

export interface Source extends Selection {
  readonly path: string;
  /** Only the metadata is kept. @default false */
  readonly metadataOnly?: boolean;
  /** Whether the cluster may serve no such objects, or not to its user: then there are none. @default false */
  readonly optional?: boolean;
}

export type Sources<T> = { readonly [K in keyof T]: Source };
type Objects<T> = { readonly [K in keyof T]: readonly T[K][] };

/** The part of process.stdout that is used. */
export type Output = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'rows' | 'columns' | 'on'>;

export interface ShowOptions {
  readonly watch: boolean;
  /** Whether a terminal gets lines below each other too. @default false */
  readonly stream?: boolean;
  /** @default process.stdout */
  readonly output?: Output;
  /** @default process.stderr */
  readonly errors?: Pick<NodeJS.WriteStream, 'write'>;
}

/** Changes that come together are shown together. */
const GATHER_MS = 100;
/** Ages and what is left of walltimes go on while nothing changes. */
const TICK_MS = 1_000;

/**
 * Reads the objects and prints the picture of them.
 * With `watch` it resolves when the picture is done, or at Ctrl-C, with the exit code of a signal as kubectl has.
 * @returns whether the picture is done
 * @throws what the apiserver answers to the first request
 */
export async function show<T extends Readonly<Record<string, KubernetesObject>>>(
  client: KubernetesClient,
  sources: Sources<T>,
  pictureOf: (objects: Objects<T>) => Picture,
  options: ShowOptions,
): Promise<boolean> {
  const { output = process.stdout } = options;
  if (!options.watch) {
    const picture = pictureOf(await listAll(client, sources));
    output.write(
      linesOf(picture)
        .map((line) => `${line}\n`)
        .join(''),
    );
    return picture.done === true;
  }
  const watch = new Watch<T>(client, sources, pictureOf, options);
  const end = endOf();
  try {
    return await watch.run(end.signal);
  } finally {
    watch.stop();
    end.forget();
  }
}

async function listAll<T extends Readonly<Record<string, KubernetesObject>>>(
  client: KubernetesClient,
  sources: Sources<T>,
): Promise<Objects<T>> {
  const lists = Object.entries<Source>(sources).map(async ([name, { path, optional, ...options }]) => {
    const list = await ifServed(client.list<KubernetesObject>(path, options), optional);
    return [name, list?.items ?? []] as const;
  });
  return Object.fromEntries(await Promise.all(lists)) as unknown as Objects<T>;
}

/** The answer, or undefined where optional objects are not served to the user. */
async function ifServed<A>(answer: Promise<A>, optional = false): Promise<A | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (optional && (isStatus(error, 403) || isStatus(error, 404))) return undefined;
    throw error;
  }
}

interface End {
  readonly signal: AbortSignal;
  /** Listens no more. */
  readonly forget: () => void;
}

/** Aborted by Ctrl-C, with the exit code that says so. */
export function endOf(): End {
  const end = new AbortController();
  const stop = (name: 'SIGINT' | 'SIGTERM') => {
    process.exitCode = 128 + constants.signals[name];
    end.abort();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return {
    signal: end.signal,
    forget: () => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}

class Watch<T extends Readonly<Record<string, KubernetesObject>>> {
  private readonly informers: Map<string, Informer<KubernetesObject>>;
  private readonly output: Output;
  private readonly screen = new Screen();
  private readonly changes = new Changes();
  /** When and why the apiserver could not be read. */
  private trouble: string | undefined;
  private wake: () => void = () => undefined;
  private isStale = true;

  constructor(
    private readonly client: KubernetesClient,
    private readonly sources: Sources<T>,
    private readonly pictureOf: (objects: Objects<T>) => Picture,
    private readonly options: ShowOptions,
  ) {
    this.output = options.output ?? process.stdout;
    this.informers = new Map(
      Object.entries<Source>(sources).map(([name, source]) => [name, this.informer(source)] as const),
    );
  }

  async run(end: AbortSignal): Promise<boolean> {
    const ended = new Promise<void>((resolve) => {
      end.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.refuse(), ended]);
    for (const informer of this.informers.values()) informer.start();
    const synced = [...this.informers.values()].map((informer) => informer.synced);
    await Promise.race([Promise.all(synced), ended]);
    if (this.isTerminal) this.output.on('resize', () => this.changed());
    while (!end.aborted) {
      this.isStale = false;
      if (this.draw()) return true;
      await this.change(end);
      await pause(systemClock, GATHER_MS, end);
    }
    return false;
  }

  stop(): void {
    for (const informer of this.informers.values()) informer.stop();
  }

  /** A watch tries for ever, also what its user may not read: the first answer says so, and what is optional is left out. */
  private async refuse(): Promise<void> {
    const asked = Object.entries<Source>(this.sources).map(async ([name, source]) => {
      const { path, labelSelector, fieldSelector, optional } = source;
      const first = this.client.list(path, {
        limit: 1,
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
      });
      if ((await ifServed(first, optional)) === undefined) this.informers.delete(name);
    });
    await Promise.all(asked);
  }

  private informer({ path, metadataOnly, optional: _, ...selection }: Source): Informer<KubernetesObject> {
    const quiet = () => undefined;
    const informer = new Informer<KubernetesObject>({
      client: this.client,
      path,
      ...selection,
      ...(metadataOnly === true && { project: ({ metadata }) => ({ metadata }) }),
      onAnswer: () => this.recovered(),
      onFailure: (error) => this.lost(messageOf(error)),
      logger: { debug: quiet, info: quiet, warn: quiet },
    });
    informer.changed.subscribe(() => this.changed());
    return informer;
  }

  private lost(error: string): void {
    const time = new Date().toISOString().slice(11, 19);
    this.trouble = `${time} the apiserver does not answer, trying again: ${plain(error)}`;
    if (!this.isTerminal) (this.options.errors ?? process.stderr).write(`${this.trouble}\n`);
    this.changed();
  }

  private recovered(): void {
    if (this.trouble === undefined) return;
    this.trouble = undefined;
    this.changed();
  }

  private changed(): void {
    this.isStale = true;
    this.wake();
  }

  /** Resolves at the next change, and on a terminal also when its clocks have to go on. */
  private change(end: AbortSignal): Promise<void> {
    if (this.isStale) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.isTerminal ? systemClock.after(TICK_MS, () => this.wake()) : () => undefined;
      const woken = () => {
        cancel();
        end.removeEventListener('abort', woken);
        this.wake = () => undefined;
        resolve();
      };
      this.wake = woken;
      end.addEventListener('abort', woken, { once: true });
    });
  }

  private get isTerminal(): boolean {
    return this.output.isTTY && this.options.stream !== true;
  }

  /** @returns whether the picture is done */
  private draw(): boolean {
    const lists = Object.keys(this.sources).map(
      (name) => [name, this.informers.get(name)?.list() ?? []] as const,
    );
    const picture = this.pictureOf(Object.fromEntries(lists) as unknown as Objects<T>);
    const { rows = 24, columns = 80 } = this.output;
    if (this.isTerminal) {
      // Rows of a table are cut, sentences are not.
      const all = linesOf(picture);
      const shown = picture.head === undefined ? all.flatMap((line) => folded(line, columns)) : all;
      const lines = [...shown, ...(this.trouble === undefined ? [] : [this.trouble])];
      this.output.write(this.screen.frame(lines, { rows, columns }));
    } else
      this.output.write(
        this.changes
          .next(picture)
          .map((line) => `${line}\n`)
          .join(''),
      );
    return picture.done === true;
  }
}
