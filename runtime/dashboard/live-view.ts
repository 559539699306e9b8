/** Keeps what the dashboard shows equal to the cluster, and tells those who look at it what changes. */
import { type Clock, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { isStatus } from '../kubernetes/errors';
import { nodes } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { KubernetesObject, Node } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { Changes, JobView, NodeView, Trouble } from './messages';
import { jobView, nodeView } from './view';

export interface LiveViewOptions {
  readonly client: KubernetesClient;
  /** @default - all namespaces */
  readonly namespace?: string;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Milliseconds since 1970. @default Date.now */
  readonly wall?: () => number;
}

/** What one of its watches heard last. */
interface Heard {
  /** Milliseconds since 1970. */
  at: number;
  /** Why it hears nothing. @default - it does */
  error?: unknown;
}

/** Milliseconds in which changes are gathered into one message. */
const GATHER_MS = 200;

export class LiveView {
  private readonly jobs = new Map<string, JobView>();
  private readonly nodes = new Map<string, NodeView>();
  private readonly listeners = new Set<(changes: Changes) => void>();
  private readonly changedJobs = new Set<string>();
  private readonly changedNodes = new Set<string>();
  private readonly clock: Clock;
  private readonly reflectors: { start(): void; stop(): void; readonly synced: Promise<void> }[] = [];
  /** By what is watched: those that are named first are told first. */
  private readonly heard = new Map<string, Heard>();
  private nodesUnknown: string | undefined;
  /** All there is, as one message; undefined after a change. */
  private all: Changes | undefined;
  private cancelGather: (() => void) | undefined;
  private isStopped = false;

  constructor(private readonly options: LiveViewOptions) {
    this.clock = options.clock ?? systemClock;
  }

  /**
   * Resolves when all is known. Nodes are shown if the user may list them.
   * @throws FluxqError if the user may not list FluxJobs, or the apiserver does not answer
   */
  async start(): Promise<void> {
    const { client, namespace } = this.options;
    await client.list(fluxJobs(namespace), { limit: 1 });
    const nodesRefused = await mayList(client);
    if (this.isStopped) return;
    this.watch<FluxJobObject, JobView>('The queue', fluxJobs(namespace), jobView, (now, before) =>
      this.note(this.jobs, this.changedJobs, (now ?? before)!.key, now),
    );
    if (nodesRefused === undefined)
      this.watch<Node, NodeView>('The list of nodes', nodes(), nodeView, (now, before) =>
        this.note(this.nodes, this.changedNodes, (now ?? before)!.name, now),
      );
    else this.nodesUnknown = nodesRefused;
    for (const reflector of this.reflectors) reflector.start();
    await Promise.all(this.reflectors.map(({ synced }) => synced));
  }

  stop(): void {
    this.isStopped = true;
    for (const reflector of this.reflectors) reflector.stop();
    this.cancelGather?.();
    this.listeners.clear();
  }

  /** Tells all there is at once, and then each change. @returns a function that ends it */
  listen(listener: (changes: Changes) => void): () => void {
    const { namespace } = this.options;
    this.all ??= {
      ...this.trouble(),
      jobs: [...this.jobs.values()],
      goneJobs: [],
      nodes: [...this.nodes.values()],
      goneNodes: [],
      ...(this.nodesUnknown === undefined ? {} : { nodesUnknown: this.nodesUnknown }),
      ...(namespace === undefined ? {} : { namespace }),
    };
    listener(this.all);
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private watch<K extends KubernetesObject, T>(
    what: string,
    path: string,
    project: (object: K) => T,
    onChange: (now: T | undefined, before: T | undefined) => void,
  ): void {
    const { client, logger, wall = Date.now } = this.options;
    const heard: Heard = { at: wall() };
    this.heard.set(what, heard);
    this.reflectors.push(
      new Reflector<K, T>({
        client,
        path,
        project,
        logger,
        clock: this.clock,
        onChange: (_, now, before) => onChange(now, before),
        onFailure: (error) => {
          heard.error = error;
          this.changed();
        },
        onAnswer: () => {
          heard.at = wall();
          if (heard.error === undefined) return;
          delete heard.error;
          this.changed();
        },
      }),
    );
  }

  private trouble(): { readonly trouble?: Trouble } {
    const [first, ...more] = [...this.heard].filter(([, { error }]) => error !== undefined);
    if (first === undefined) return {};
    const [what, { at, error }] = first;
    const since = new Date(Math.min(at, ...more.map(([, heard]) => heard.at))).toISOString();
    return { trouble: { message: `${what} cannot be read now: ${sentenceOf(error)}`, since } };
  }

  private note<T>(all: Map<string, T>, changed: Set<string>, key: string, now: T | undefined): void {
    if (now === undefined) all.delete(key);
    // Heartbeats of nodes change nothing that is shown.
    else if (JSON.stringify(all.get(key)) === JSON.stringify(now)) return;
    else all.set(key, now);
    // Who comes later is told all there is.
    if (this.listeners.size > 0) changed.add(key);
    this.changed();
  }

  private changed(): void {
    this.all = undefined;
    if (this.listeners.size > 0) this.cancelGather ??= this.clock.after(GATHER_MS, () => this.tell());
  }

  private tell(): void {
    this.cancelGather = undefined;
    const jobs = split(this.jobs, this.changedJobs);
    const nodes = split(this.nodes, this.changedNodes);
    const changes = {
      jobs: jobs.now,
      goneJobs: jobs.gone,
      nodes: nodes.now,
      goneNodes: nodes.gone,
      ...this.trouble(),
    };
    for (const listener of this.listeners) listener(changes);
  }
}

function split<T>(all: ReadonlyMap<string, T>, changed: Set<string>) {
  const keys = [...changed];
  changed.clear();
  return {
    now: keys.flatMap((key) => all.get(key) ?? []),
    gone: keys.filter((key) => !all.has(key)),
  };
}

/** @returns why the user may not list nodes; undefined: the user may */
async function mayList(client: KubernetesClient): Promise<string | undefined> {
  try {
    await client.list(nodes(), { limit: 1 });
    return undefined;
  } catch (error) {
    if (!isStatus(error, 403)) throw error;
    return 'You may not list nodes: only those that the shown workloads hold are here.';
  }
}

/** Only errors that were written for readers are shown to them. */
export function sentenceOf(error: unknown): string {
  return error instanceof FluxqError
    ? `${messageOf(error)}.`
    : 'The server of this page failed; its log says why.';
}
