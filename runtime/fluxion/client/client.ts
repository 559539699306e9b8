/** The client: one Fluxion, whichever of the three servers is behind the address. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { FluxqError, hasCode, messageOf } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import type { FluxionLog } from '../engine';
import { SerialExecutor } from '../executor';
import { FluxionServiceService } from '../generated/fluxion';
import type { Fluxion, FluxionState, InitRequest, MatchRequest, MatchResult } from '../types';
import { inDoubt } from '../wire';
import { type ClientTls, Rpc } from './channel';
import { FullProtocol, type Protocol, type Timeouts } from './native-protocol';
import { PublicProtocol } from './public-protocol';

export interface ConnectOptions {
  /** `unix:/path` or `host:port`. */
  readonly address: string;
  readonly timeouts?: Timeouts;
  /** @default - plain text */
  readonly tls?: ClientTls;
  /** Fencing number until init gives one. @default 0 */
  readonly fence?: number;
  /** Hears what a public server can't do. @default - nobody */
  readonly log?: FluxionLog;
}

const SILENT: FluxionLog = { info() {}, warn() {}, error() {} };

/**
 * A client; the connection is made at the first call. Calls run one after the other, each with a deadline of
 * its own. After FLUXQ_FLUXION_IN_DOUBT every call but init and close throws it again until init succeeds.
 * @throws FluxqError FLUXQ_FLUXION_ADDRESS
 */
export function connectFluxion(options: ConnectOptions): Fluxion {
  return new ConnectedFluxion(options);
}

class ConnectedFluxion implements Fluxion {
  private readonly executor = new SerialExecutor();
  private readonly rpc: Rpc;
  private readonly timeouts: Required<Timeouts>;
  private protocol: Protocol | undefined;
  private doubt: FluxqError | undefined;
  private closed = false;

  constructor(private readonly options: ConnectOptions) {
    this.rpc = new Rpc(options.address, options.tls);
    this.timeouts = { call: 30_000, init: 300_000, connect: 10_000, ...options.timeouts };
  }

  init(request: InitRequest): Promise<string> {
    return this.run(async () => {
      // Another image may answer at this address since the last time.
      this.protocol = undefined;
      this.doubt = undefined;
      return (await this.detect()).init(request);
    });
  }

  match(request: MatchRequest): Promise<MatchResult> {
    return this.certain((fluxion) => fluxion.match(request));
  }
  satisfiable(jobspec: Jobspec): Promise<{ readonly satisfiable: boolean; readonly text: string }> {
    return this.certain((fluxion) => fluxion.satisfiable(jobspec));
  }
  replay(allocations: readonly Allocation[], now: number): Promise<void> {
    return this.certain((fluxion) => fluxion.replay(allocations, now));
  }
  cancel(jobid: number): Promise<void> {
    return this.certain((fluxion) => fluxion.cancel(jobid));
  }
  partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    return this.certain((fluxion) => fluxion.partialCancel(jobid, nodes));
  }
  addNodes(nodes: readonly GraphNode[]): Promise<void> {
    return this.certain((fluxion) => fluxion.addNodes(nodes));
  }
  removeNodes(names: readonly string[]): Promise<readonly number[]> {
    return this.certain((fluxion) => fluxion.removeNodes(names));
  }
  setStatus(names: readonly string[], up: boolean): Promise<void> {
    return this.certain((fluxion) => fluxion.setStatus(names, up));
  }
  state(): Promise<FluxionState> {
    return this.certain((fluxion) => fluxion.state());
  }

  /** Calls that were made before still end, at their deadline at the latest. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.executor.idle();
    this.rpc.close();
  }

  private certain<T>(work: (fluxion: Protocol) => Promise<T>): Promise<T> {
    return this.run(async () => {
      if (this.doubt !== undefined) throw inDoubt('an earlier call ended in doubt', this.doubt);
      return work(await this.detect());
    });
  }

  private run<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    return this.executor.run(async () => {
      try {
        return await work();
      } catch (error) {
        if (hasCode(error, 'FLUXQ_FLUXION_IN_DOUBT')) this.doubt ??= error;
        throw error;
      }
    });
  }

  private async detect(): Promise<Protocol> {
    this.protocol ??= await this.detectProtocol();
    return this.protocol;
  }

  private async detectProtocol(): Promise<Protocol> {
    const { address, fence = 0, log = SILENT } = this.options;
    try {
      const method = FluxionServiceService.describe;
      const { engine } = await this.rpc.call(method, {}, this.timeouts.connect, true);
      log.info({ address, engine }, 'connected to a fluxion service');
      return new FullProtocol(this.rpc, this.timeouts, fence);
    } catch (error) {
      if ((error as ServiceError).code !== status.UNIMPLEMENTED) throw inDoubt(messageOf(error), error);
    }
    return new PublicProtocol(this.rpc, this.timeouts, log);
  }
}

function closedError(): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_CLOSED', 'this client was closed', { remedy: 'connect again' });
}
