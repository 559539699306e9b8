/** The protocol of a server that implements all of fluxion.proto: each call is one RPC. */
import type { ServiceError } from '@grpc/grpc-js';
import { FluxqError, messageOf } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, GraphNode } from '../../resources/types';
import { type Caller, FluxionServiceService } from '../generated/fluxion';
import type { Fluxion, FluxionState, InitRequest, MatchRequest, MatchResult } from '../types';
import {
  allocationToWire,
  errorFromWire,
  inDoubt,
  nodeToWire,
  operationToWire,
  resultFromWire,
  stateFromWire,
} from '../wire';
import type { Channel, Method } from './channel';

export interface Timeouts {
  /** Deadline of a match or any other small call, in milliseconds. @default 30000 */
  readonly call?: number;
  /** Deadline of the calls that grow with the cluster, such as init and replay, in milliseconds. @default 300000 */
  readonly init?: number;
  /** Deadline of the connection at init, in milliseconds. @default 10000 */
  readonly connect?: number;
}

/** Allocations per replay message: the replay of a large cluster stays cancellable. */
const REPLAY_BATCH = 1000;

/** The calls of one kind of server. The client adds order, the check for lost state, and closing. */
export type Protocol = Omit<Fluxion, 'close'>;

export class NativeProtocol implements Protocol {
  private bootId = '';

  constructor(
    private readonly channel: Channel,
    private readonly timeouts: Required<Timeouts>,
    private fence: number,
  ) {}

  async init({ nodes, policy, now, fence, warm = false }: InitRequest): Promise<string> {
    this.fence = fence ?? this.fence;
    this.bootId = '';
    const graph = { nodes: nodes.map(nodeToWire) };
    const caller = this.caller();
    const request = { policy, jgf: '', graph, now: Math.floor(now), caller, pruneFilters: '', warm };
    const { bootId } = await this.send(FluxionServiceService.init, request, this.timeouts.init);
    this.bootId = bootId;
    return bootId;
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<MatchResult> {
    const response = await this.send(FluxionServiceService.match, {
      jobspec: JSON.stringify(jobspec),
      request: 'allocate',
      reservation: operation === 'allocate_orelse_reserve',
      operation: operationToWire(operation),
      jobid,
      now: Math.floor(now),
      caller: this.caller(),
      wantHeld: false,
    });
    return resultFromWire(response);
  }

  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    const request = { jobspec: JSON.stringify(jobspec), caller: this.caller() };
    const { satisfiable, text } = await this.send(FluxionServiceService.satisfiable, request);
    return { satisfiable, text };
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    for (let i = 0; i < allocations.length; i += REPLAY_BATCH) {
      const batch = allocations.slice(i, i + REPLAY_BATCH).map(allocationToWire);
      const request = { allocations: batch, now: Math.floor(now), caller: this.caller() };
      const { failedJobid, text } = await this.send(
        FluxionServiceService.replay,
        request,
        this.timeouts.init,
      );
      if (failedJobid !== 0) {
        throw new FluxqError('FLUXQ_FLUXION_REPLAY', text, { field: 'jobid', value: failedJobid });
      }
    }
  }

  async cancel(jobid: number): Promise<void> {
    await this.send(FluxionServiceService.cancel, { jobID: jobid, caller: this.caller() });
  }

  async partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    const request = { jobid, nodes: [...nodes], caller: this.caller() };
    return (await this.send(FluxionServiceService.partialCancel, request)).gone;
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    const request = { nodes: nodes.map(nodeToWire), caller: this.caller() };
    await this.send(FluxionServiceService.addNodes, request, this.timeouts.init);
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    const request = { names: [...names], caller: this.caller() };
    return (await this.send(FluxionServiceService.removeNodes, request, this.timeouts.init)).jobids;
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    await this.send(FluxionServiceService.setStatus, { names: [...names], up, caller: this.caller() });
  }

  async state(): Promise<FluxionState> {
    return stateFromWire(await this.send(FluxionServiceService.state, { caller: this.caller() }));
  }

  private caller(): Caller {
    return { fence: this.fence, bootId: this.bootId };
  }

  private async send<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs = this.timeouts.call,
  ): Promise<Response> {
    try {
      return await this.channel.call(method, request, timeoutMs);
    } catch (error) {
      throw errorFromWire(error as ServiceError) ?? inDoubt(messageOf(error), error);
    }
  }
}
