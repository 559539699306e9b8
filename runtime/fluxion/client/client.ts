/** The client of a Fluxion server. It finds out whether the server speaks our protocol or the public one. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { FluxqError, hasCode, messageOf } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import type { FluxionLog } from '../engine';
import { FluxionServiceService } from '../generated/fluxion';
import { SerialExecutor } from '../serial-executor';
import { tolerating } from '../tolerating';
import type { Fluxion, FluxionState, InitRequest, MatchRequest, MatchResult } from '../types';
import { inDoubt } from '../wire';
import { Channel, type ClientTls } from './channel';
import { NativeProtocol, type Protocol, type Timeouts } from './native-protocol';
import { PublicProtocol } from './public-protocol';

export interface ConnectOptions {
  /** `unix:/path` or `host:port`. */
  readonly address: string;
  readonly timeouts?: Timeouts;
  /** @default - no TLS */
  readonly tls?: ClientTls;
  /** Fencing number of the calls before init. @default 0 */
  readonly fence?: number;
  /** Gets a warning with the limitations of a public server. @default - no log */
  readonly log?: FluxionLog;
}

const SILENT: FluxionLog = { info() {}, warn() {}, error() {} };

/**
 * Creates a client, which connects at the first call. Calls run one after the other, each with its own deadline. After
 * FLUXQ_FLUXION_IN_DOUBT every call but init and close throws that error until init succeeds.
 * @throws FluxqError FLUXQ_FLUXION_ADDRESS
 */
export function connectFluxion(options: ConnectOptions): Fluxion {
  return tolerating(new FluxionClient(options));
}

class FluxionClient implements Fluxion {
  private readonly executor = new SerialExecutor();
  private readonly channel: Channel;
  private readonly timeouts: Required<Timeouts>;
  private protocol: Protocol | undefined;
  private inDoubtSince: FluxqError | undefined;
  private closed = false;
  /** What the service said that it is. */
  private engine: string | undefined;

  constructor(private readonly options: ConnectOptions) {
    this.channel = new Channel(options.address, options.tls);
    this.timeouts = { call: 30_000, init: 300_000, connect: 10_000, ...options.timeouts };
  }

  init(request: InitRequest): Promise<string> {
    return this.run(async () => {
      // Another server may have taken over this address since the last init.
      this.protocol = undefined;
      this.inDoubtSince = undefined;
      return (await this.detect()).init(request);
    });
  }

  match(request: MatchRequest): Promise<MatchResult> {
    return this.whenInSync((fluxion) => fluxion.match(request));
  }
  satisfiable(jobspec: Jobspec): Promise<{ readonly satisfiable: boolean; readonly text: string }> {
    return this.whenInSync((fluxion) => fluxion.satisfiable(jobspec));
  }
  replay(allocations: readonly Allocation[], now: number): Promise<void> {
    return this.whenInSync((fluxion) => fluxion.replay(allocations, now));
  }
  cancel(jobid: number): Promise<void> {
    return this.whenInSync((fluxion) => fluxion.cancel(jobid));
  }
  partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    return this.whenInSync((fluxion) => fluxion.partialCancel(jobid, nodes));
  }
  addNodes(nodes: readonly GraphNode[]): Promise<void> {
    return this.whenInSync((fluxion) => fluxion.addNodes(nodes));
  }
  removeNodes(names: readonly string[]): Promise<readonly number[]> {
    return this.whenInSync((fluxion) => fluxion.removeNodes(names));
  }
  setStatus(names: readonly string[], up: boolean): Promise<void> {
    return this.whenInSync((fluxion) => fluxion.setStatus(names, up));
  }
  state(): Promise<FluxionState> {
    return this.whenInSync((fluxion) => fluxion.state());
  }

  /** Waits for the calls made so far, which end at their deadline at the latest. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.executor.idle();
    this.channel.close();
  }

  private whenInSync<T>(work: (fluxion: Protocol) => Promise<T>): Promise<T> {
    return this.run(async () => {
      if (this.inDoubtSince !== undefined) throw inDoubt('an earlier call failed', this.inDoubtSince);
      return work(await this.detect());
    });
  }

  private run<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(closedError());
    return this.executor.run(async () => {
      try {
        return await work();
      } catch (error) {
        if (hasCode(error, 'FLUXQ_FLUXION_IN_DOUBT')) this.inDoubtSince ??= error;
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
      const { engine } = await this.channel.call(method, {}, this.timeouts.connect, true);
      // A standby initialises its service every few seconds.
      if (engine !== this.engine) log.info({ address, engine }, 'connected to a Fluxion service');
      this.engine = engine;
      return new NativeProtocol(this.channel, this.timeouts, fence);
    } catch (error) {
      if ((error as ServiceError).code !== status.UNIMPLEMENTED) throw inDoubt(messageOf(error), error);
    }
    return new PublicProtocol(this.channel, this.timeouts, log);
  }
}

function closedError(): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_CLOSED', 'the client is closed', { remedy: 'connect again' });
}
