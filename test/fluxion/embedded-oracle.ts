/** The embedded matcher as a server that replays recordings. */
import type { JgfGraph } from '../../runtime/fluxion/jgf/types';
import { Matcher } from '../../runtime/fluxion/matcher/matcher';
import type { MatchOperation } from '../../runtime/fluxion/types';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { OracleAnswer, OracleServer } from './oracle';

export class EmbeddedOracleServer implements OracleServer {
  private matcher: Matcher | undefined;

  async init(graph: JgfGraph, options: Readonly<Record<string, string>>): Promise<void> {
    this.matcher = Matcher.fromJgf(graph, {
      policy: options.matcher_policy ?? 'first',
      ...(options.prune_filters === undefined ? {} : { pruneFilters: options.prune_filters }),
    });
  }

  async match(operation: MatchOperation, id: number, jobspec: Jobspec, now: number): Promise<OracleAnswer> {
    const outcome = this.started.match({ jobid: id, jobspec, operation, now });
    if (outcome.status !== 'OK') return { result: outcome.status };
    const { reserved, start, held } = outcome;
    return { result: 'OK', reserved, at: start, held };
  }

  async satisfiable(jobspec: Jobspec): Promise<boolean> {
    return this.started.satisfiable(jobspec).satisfiable;
  }

  async cancel(id: number): Promise<number> {
    return this.started.cancel(id) ? 0 : -1;
  }

  async setStatus(path: string, up: boolean): Promise<number> {
    this.started.setStatus(path, up);
    return 0;
  }

  async close(): Promise<void> {
    this.matcher = undefined;
  }

  private get started(): Matcher {
    if (this.matcher === undefined) throw new Error('call init first');
    return this.matcher;
  }
}
