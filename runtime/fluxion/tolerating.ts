/**
 * A Fluxion that knows what pods tolerate. Jobspecs say it with `tolerates`, which is not in RFC 31: every server gets the
 * taints that its graph has at that moment, as properties that nodes must not have.
 */
import { jobspecWithTaints, NO_TAINTS, type Taints, taintsIn } from '../jobspec/resolve-taints';
import type { Jobspec } from '../jobspec/types';
import type { Allocation, GraphNode } from '../resources/types';
import type { Fluxion, FluxionState, InitRequest, MatchRequest, MatchResult } from './types';

export function tolerating(fluxion: Fluxion): Fluxion {
  return new ToleratingFluxion(fluxion);
}

class ToleratingFluxion implements Fluxion {
  /** The nodes of the graph that have taints, by name. */
  private tainted = new Map<string, GraphNode>();
  private taints: Taints = NO_TAINTS;
  /** Engines know a request again by the object. */
  private resolved = new WeakMap<Jobspec, Jobspec>();

  constructor(private readonly fluxion: Fluxion) {}

  init(request: InitRequest): Promise<string> {
    this.tainted = new Map();
    this.add(request.nodes);
    return this.fluxion.init(request);
  }

  match({ jobspec, ...request }: MatchRequest): Promise<MatchResult> {
    return this.fluxion.match({ ...request, jobspec: this.plain(jobspec) });
  }

  satisfiable(jobspec: Jobspec): Promise<{ readonly satisfiable: boolean; readonly text: string }> {
    return this.fluxion.satisfiable(this.plain(jobspec));
  }

  addNodes(nodes: readonly GraphNode[]): Promise<void> {
    this.add(nodes);
    return this.fluxion.addNodes(nodes);
  }

  removeNodes(names: readonly string[]): Promise<readonly number[]> {
    for (const name of names) this.tainted.delete(name);
    this.nodesChanged();
    return this.fluxion.removeNodes(names);
  }

  replay(allocations: readonly Allocation[], now: number): Promise<void> {
    return this.fluxion.replay(allocations, now);
  }
  cancel(jobid: number): Promise<void> {
    return this.fluxion.cancel(jobid);
  }
  partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    return this.fluxion.partialCancel(jobid, nodes);
  }
  setStatus(names: readonly string[], up: boolean): Promise<void> {
    return this.fluxion.setStatus(names, up);
  }
  state(): Promise<FluxionState> {
    return this.fluxion.state();
  }
  close(): Promise<void> {
    return this.fluxion.close();
  }

  private add(nodes: readonly GraphNode[]): void {
    for (const node of nodes) if (taintsIn([node]).length > 0) this.tainted.set(node.name, node);
    this.nodesChanged();
  }

  private nodesChanged(): void {
    const taints = taintsIn(this.tainted.values());
    if (taints.join() === this.taints.join()) return;
    this.taints = taints;
    this.resolved = new WeakMap();
  }

  private plain(jobspec: Jobspec): Jobspec {
    const known = this.resolved.get(jobspec);
    if (known !== undefined) return known;
    const plain = jobspecWithTaints(jobspec, this.taints);
    this.resolved.set(jobspec, plain);
    return plain;
  }
}
