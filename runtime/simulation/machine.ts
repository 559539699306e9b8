/** The machine of a replay: what the user gives, else what the trace tells. */
import { FluxqError } from '../errors';
import type { Machine } from './replay';
import type { Trace, TraceJob } from './swf';

export interface FoundMachine extends Machine {
  /** How the size was found where neither the user nor the trace told it. @default - one of them did */
  readonly note?: string;
}

/**
 * @param given nodes and cores of each, as far as the user gave them
 * @throws FluxqError FLUXQ_SIMULATION_SIZE if the trace does not tell what the user did not give
 */
export function machineOf(trace: Trace, given: Partial<Machine>): FoundMachine {
  const { maxNodes, maxProcessors } = trace;
  const told =
    maxNodes === undefined || maxProcessors === undefined
      ? undefined
      : Math.max(1, Math.floor(maxProcessors / maxNodes));
  const coresPerNode = given.coresPerNode ?? told ?? (given.nodes === undefined ? 1 : undefined);
  if (coresPerNode === undefined) throw unknownSize('--cores-per-node');
  if (given.nodes !== undefined) return { nodes: given.nodes, coresPerNode };
  if (maxProcessors !== undefined) return { nodes: nodesFor(maxProcessors, coresPerNode), coresPerNode };
  if (maxNodes !== undefined && given.coresPerNode !== undefined) return { nodes: maxNodes, coresPerNode };
  const peak = mostInUse(trace.jobs);
  if (peak === undefined) throw unknownSize('--nodes and --cores-per-node');
  const nodes = nodesFor(peak, coresPerNode);
  return {
    nodes,
    coresPerNode,
    note: `the trace does not tell the size of its machine: ${nodes} nodes of ${coresPerNode} ${coresPerNode === 1 ? 'core' : 'cores'}, the most that its jobs used at once; --nodes and --cores-per-node set another`,
  };
}

function nodesFor(cores: number, coresPerNode: number): number {
  return Math.max(1, Math.ceil(cores / coresPerNode));
}

function unknownSize(options: string): FluxqError {
  return new FluxqError('FLUXQ_SIMULATION_SIZE', 'the trace does not tell the size of its machine', {
    remedy: `give ${options}`,
  });
}

/** The most cores in use at once on the machine of the trace; undefined if it is not known when a job started. */
function mostInUse(jobs: readonly TraceJob[]): number | undefined {
  const changes: { readonly at: number; readonly by: number }[] = [];
  for (const { submittedAt, waited, runtime, processors } of jobs) {
    if (waited === undefined) return undefined;
    const start = submittedAt + waited;
    changes.push({ at: start, by: processors }, { at: start + runtime, by: -processors });
  }
  // What ends frees its cores for what starts in the same second.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let used = 0;
  let most = 0;
  for (const { by } of changes) {
    used += by;
    most = Math.max(most, used);
  }
  return most === 0 ? undefined : most;
}
