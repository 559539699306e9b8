/** A view that a test fills. */
import type { Changes, JobView, NodeView } from '../../runtime/dashboard/messages';
import { jobView, nodeView } from '../../runtime/dashboard/view';
import { at, condition, fluxJob, node } from './sample';

export class StaticView {
  private readonly listeners = new Set<(changes: Changes) => void>();

  constructor(
    readonly jobs: readonly JobView[],
    readonly nodes: readonly NodeView[],
  ) {}

  listen(listener: (changes: Changes) => void): () => void {
    listener({ jobs: this.jobs, goneJobs: [], nodes: this.nodes, goneNodes: [] });
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** How many listen. */
  get followers(): number {
    return this.listeners.size;
  }

  tell(changes: Partial<Changes>): void {
    for (const listener of this.listeners)
      listener({ jobs: [], goneJobs: [], nodes: [], goneNodes: [], ...changes });
  }
}

const QUEUES = ['default', 'gpu', 'long'];

/** A cluster at work: half of the nodes run a job each, the others are free; the rest waits. */
export function atWork({ jobs, nodes }: { jobs: number; nodes: number }): StaticView {
  const names = Array.from({ length: nodes }, (_, i) => `node${i}`);
  const running = names.slice(0, Math.ceil(nodes / 2)).map((name, i) =>
    fluxJob(
      `train-${i}`,
      {
        phase: 'Running',
        startTime: at(-20 + (i % 15)),
        nodes: name,
        nodeCount: 1,
        allocation: [{ node: name, units: { core: `0-${3 + 2 * (i % 6)}` } }],
        conditions: [condition('Scheduled', 'True', 'Granted', `runs on ${name}`)],
      },
      { queue: QUEUES[i % 3]!, walltimeSeconds: 1800 + 300 * (i % 9), pods: 1 },
    ),
  );
  const waiting = Array.from({ length: jobs }, (_, i) =>
    fluxJob(
      `sweep-${i}`,
      {
        phase: 'Waiting',
        position: 1 + Math.floor(i / 3),
        ...(i < 3 ? { estimatedStart: at(20 + 5 * i) } : i < 12 ? { plannedStart: at(30 + 4 * i) } : {}),
        conditions: [
          condition(
            'Scheduled',
            'False',
            i < 3 ? 'Reserved' : 'Busy',
            i < 3 ? 'starts when train-1 ends' : 'needs 1 pod with 8 cores; not free now',
          ),
        ],
      },
      { queue: QUEUES[i % 3]!, walltimeSeconds: 900 },
    ),
  );
  const states = names.map((name, i) =>
    nodeView(node(name, { ready: i !== nodes - 1, unschedulable: i === nodes - 2 })),
  );
  return new StaticView([...running, ...waiting].map(jobView), states);
}
