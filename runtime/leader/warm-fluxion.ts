/**
 * Keeps the Fluxion service beside a standby equal to the nodes and the rows. To build the graph of flux-sched's library and
 * to replay a thousand allocations takes it a second; a term that starts on an equal graph replays only what changed.
 * Nothing is matched on it, and the term initialises it again, with its fence.
 */
import type { Config } from '../config';
import { hasCode, messageOf } from '../errors';
import { graphNode } from '../jobspec/graph-nodes';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import type { GraphNode } from '../resources/types';
import { heldAllocations } from '../scheduler/replay';
import { agentRequests } from '../shared/agents';
import type { Informers } from '../shared/informers';
import type { TermOptions } from './shared';

export interface WarmFluxionOptions {
  readonly fluxion: TermOptions['fluxion'];
  readonly config: Pick<Config, 'fluxion' | 'units'>;
  readonly logger: Logger;
  /** Unix seconds. */
  readonly now: () => number;
  /** The fence of the last term of this process; 0 before the first. */
  readonly fence: () => number;
}

/** The service rests so many times as long as it works: a large cluster is followed less often. */
const REST = 20;

/**
 * Whether the standby keeps this service warm: only the library is slow to start, and only a service on a Unix socket belongs to
 * this replica. Another one may be that of the leader.
 */
export function hasOwnLibrary({ fluxion: { address, engine } }: Pick<Config, 'fluxion'>): boolean {
  return engine === 'library' && address.startsWith('unix:');
}

export class WarmFluxion {
  private stopped = false;
  private refused = false;
  private followed = false;
  /** Unix seconds. */
  private restUntil = 0;

  constructor(private readonly options: WarmFluxionOptions) {}

  /** Whether a term would start on the kept graph; also if there is none to keep. */
  get isWarm(): boolean {
    return this.followed || this.refused;
  }

  /** Nothing is sent from here on. */
  stop(): void {
    this.stopped = true;
  }

  /** Makes the service equal to these rows and the nodes; an error only makes the next term slower. */
  async follow(rows: readonly WorkloadRow[], informers: Informers): Promise<void> {
    const { fluxion, config, logger, fence } = this.options;
    const began = this.options.now();
    if (this.stopped || this.refused || !informers.isSynced || began < this.restUntil) return;
    const now = Math.floor(began);
    const nodes = this.nodes(informers);
    const holders = rows.filter(({ allocation }) => allocation !== null);
    const { policy } = config.fluxion;
    try {
      await fluxion.init({ nodes: [...nodes.values()], policy, now, fence: fence(), warm: true });
      if (this.stopped) return;
      await fluxion.replay([...heldAllocations(holders, nodes, now).byJob.values()], now);
      this.followed = true;
    } catch (error) {
      this.followed = false;
      // The service is that of a leader, or was that of a leader in an earlier process.
      this.refused = hasCode(error, 'FLUXQ_FLUXION_FENCED');
      logger.debug({ error: messageOf(error) }, 'Fluxion is not kept warm');
    }
    this.restUntil = began + REST * (this.options.now() - began);
  }

  /** As the term will see them. */
  private nodes({ nodes, pods }: Informers): Map<string, GraphNode> {
    const { units } = this.options.config;
    const agentsOn = (name: string) => agentRequests(pods, name);
    return new Map(
      nodes.list().flatMap((node) => {
        const made = graphNode(node, { units, agentsOn });
        return made === undefined ? [] : [[made.name, made] as const];
      }),
    );
  }
}
