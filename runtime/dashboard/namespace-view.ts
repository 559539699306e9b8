/** What readers of one namespace see of the view of the whole cluster: its jobs, and the nodes that they hold. */
import type { LiveView } from './live-view';
import type { Changes, JobView, NodeView, Trouble } from './messages';

type Listener = (changes: Changes) => void;

export class NamespaceView {
  private readonly jobs = new Map<string, JobView>();
  /** All of the cluster. */
  private readonly nodes = new Map<string, NodeView>();
  /** Nodes that the readers know. */
  private readonly shown = new Map<string, NodeView>();
  private readonly listeners = new Set<Listener>();
  private all: Changes | undefined;
  private trouble: Trouble | undefined;
  /** Ends it. */
  readonly stop: () => void;

  constructor(
    view: Pick<LiveView, 'listen'>,
    private readonly namespace: string,
  ) {
    this.stop = view.listen((changes) => this.follow(changes));
  }

  get isIdle(): boolean {
    return this.listeners.size === 0;
  }

  /** Tells all there is at once, and then each change. @returns a function that ends it */
  listen(listener: Listener): () => void {
    this.all ??= {
      jobs: [...this.jobs.values()],
      goneJobs: [],
      nodes: [...this.shown.values()],
      goneNodes: [],
      ...(this.trouble && { trouble: this.trouble }),
      nodesUnknown: `Only nodes that jobs of ${this.namespace} hold are shown, without what other namespaces hold of them.`,
      namespace: this.namespace,
    };
    listener(this.all);
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private follow({ jobs, goneJobs, nodes, goneNodes, trouble }: Changes): void {
    const now = jobs.filter(({ namespace }) => namespace === this.namespace);
    for (const job of now) this.jobs.set(job.key, job);
    const gone = goneJobs.filter((key) => this.jobs.delete(key));
    for (const node of nodes) this.nodes.set(node.name, node);
    for (const name of goneNodes) this.nodes.delete(name);
    const lists = { jobs: now, goneJobs: gone, ...this.show() };
    const isTroubled = trouble?.message !== this.trouble?.message || trouble?.since !== this.trouble?.since;
    if (!isTroubled && Object.values(lists).every((list) => list.length === 0)) return;
    this.trouble = trouble;
    const changes = { ...lists, ...(trouble && { trouble }) };
    this.all = undefined;
    for (const listener of this.listeners) listener(changes);
  }

  /** Nodes that are held from now on or have changed, and those that are held no longer. */
  private show(): Pick<Changes, 'nodes' | 'goneNodes'> {
    const held = new Map<string, NodeView>();
    for (const { shares } of this.jobs.values())
      for (const { node: name } of shares) {
        const node = this.nodes.get(name);
        if (node !== undefined) held.set(name, node);
      }
    const goneNodes = [...this.shown.keys()].filter((name) => !held.has(name));
    const nodes = [...held.values()].filter((node) => this.shown.get(node.name) !== node);
    for (const name of goneNodes) this.shown.delete(name);
    for (const node of nodes) this.shown.set(node.name, node);
    return { nodes, goneNodes };
  }
}
