/**
 * The RPCs of the protocol over one engine. They run serially and check the fencing number and the boot id of the caller.
 * A request without `caller` comes from a client of the public service.
 */
import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { FluxqError, hasCode, messageOf } from '../../errors';
import type { Engine } from '../engine';
import * as pb from '../generated/fluxion';
import type { SerialExecutor } from '../serial-executor';
import {
  allocationFromWire,
  errorToWire,
  inDoubt,
  nodeFromWire,
  operationFromWire,
  resultToWire,
  stateToWire,
} from '../wire';
import { PublicService, PublicServiceError, parseJobspec, parsePolicy } from './public-service';

type Call<Request, Response> = (request: Request) => Promise<Response>;

export class FluxionService {
  private fence = 0;
  /** The kind of caller that made the graph: job ids counted for public callers would collide with those of native ones. */
  private graphOwner: 'public' | 'native' | undefined;
  private readonly publicService: PublicService;

  constructor(
    private readonly engine: Engine,
    private readonly executor: SerialExecutor,
  ) {
    this.publicService = new PublicService(engine);
  }

  handlers(): pb.FluxionServiceServer {
    return {
      init: this.serial((request) => this.init(request)),
      match: this.serial((request) => this.match(request)),
      cancel: this.serial((request) => this.cancel(request)),
      describe: this.serial(async () => ({
        bootId: this.engine.bootId,
        engine: this.engine.kind,
        fence: this.fence,
      })),
      satisfiable: this.serial((request) => this.satisfiable(request)),
      replay: this.serial((request) => this.replay(request)),
      partialCancel: this.serial(async ({ caller, jobid, nodes }) => {
        this.checkCaller(caller);
        return { gone: await this.engine.partialCancel(jobid, nodes) };
      }),
      addNodes: this.serial(async ({ caller, nodes }) => {
        this.checkCaller(caller);
        await this.engine.addNodes(nodes.map(nodeFromWire));
        return {};
      }),
      removeNodes: this.serial(async ({ caller, names }) => {
        this.checkCaller(caller);
        return { jobids: [...(await this.engine.removeNodes(names))] };
      }),
      setStatus: this.serial(async ({ caller, names, up }) => {
        this.checkCaller(caller);
        await this.engine.setStatus(names, up);
        return {};
      }),
      // Any caller may read, whatever its fencing number: a standby controller, or a person with grpcurl.
      state: this.serial(async ({ caller }) => {
        const graphLoss = this.graphLoss(caller);
        if (graphLoss !== undefined) throw inDoubt(graphLoss);
        return stateToWire(await this.engine.state());
      }),
    };
  }

  private async init(request: pb.InitRequest): Promise<pb.InitResponse> {
    this.checkFence(request.caller);
    this.graphOwner = undefined;
    if (request.caller === undefined) {
      const response = await this.publicService.init(request);
      this.graphOwner = 'public';
      return response;
    }
    const { graph, jgf, now, pruneFilters, warm } = request;
    const policy = parsePolicy(request.policy);
    const bootId =
      graph === undefined
        ? await this.engine.initJgf({ jgf, policy, now, ...(pruneFilters === '' ? {} : { pruneFilters }) })
        : await this.engine.init({ nodes: graph.nodes.map(nodeFromWire), policy, now, warm });
    this.graphOwner = 'native';
    return { status: pb.InitResponse_ResultType.INIT_SUCCESS, bootId };
  }

  private async match(request: pb.MatchRequest): Promise<pb.MatchResponse> {
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    if (request.operation === pb.MatchRequest_Operation.OPERATION_UNSPECIFIED) {
      this.checkPublicCaller(request.caller);
      return this.publicService.match(request, seconds);
    }
    const { jobid, now, caller, wantHeld } = request;
    this.checkFence(caller);
    const graphLoss = this.graphLoss(caller);
    if (graphLoss !== undefined)
      return resultToWire(jobid, { status: 'NOT_READY', text: graphLoss }, seconds());
    const operation = operationFromWire(request.operation);
    const jobspec = parseJobspec(request.jobspec);
    if (operation === undefined || typeof jobspec === 'string') {
      const text = typeof jobspec === 'string' ? jobspec : `unknown operation ${request.operation}`;
      return resultToWire(jobid, { status: 'INVALID', text }, seconds());
    }
    return resultToWire(
      jobid,
      await this.engine.match({ jobid, jobspec, operation, now }),
      seconds(),
      wantHeld,
    );
  }

  private async cancel({ jobID, caller }: pb.CancelRequest): Promise<pb.CancelResponse> {
    if (caller === undefined) {
      this.checkPublicCaller(caller);
      return this.publicService.cancel(jobID);
    }
    this.checkCaller(caller);
    await this.engine.cancel(jobID);
    return { jobID, error: 0, status: pb.CancelResponse_ResultType.CANCEL_SUCCESS };
  }

  private async satisfiable({ jobspec, caller }: pb.SatisfiableRequest): Promise<pb.SatisfiableResponse> {
    this.checkCaller(caller);
    const parsed = parseJobspec(jobspec);
    return typeof parsed === 'string'
      ? { satisfiable: false, text: parsed }
      : this.engine.satisfiable(parsed);
  }

  private async replay({ allocations, now, caller }: pb.ReplayRequest): Promise<pb.ReplayResponse> {
    this.checkCaller(caller);
    for (const allocation of allocations) {
      try {
        await this.engine.replay([allocationFromWire(allocation)], now);
      } catch (error) {
        if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
        return { failedJobid: allocation.jobid, text: error.message.replace(`${error.code}: `, '') };
      }
    }
    return { failedJobid: 0, text: '' };
  }

  /** Checks every native call but init and match; match answers NOT_READY when the graph was lost. */
  private checkCaller(caller: pb.Caller | undefined): void {
    this.checkFence(caller);
    const graphLoss = this.graphLoss(caller);
    if (graphLoss !== undefined) throw inDoubt(graphLoss);
  }

  private checkPublicCaller(caller: pb.Caller | undefined): void {
    this.checkFence(caller);
    if (this.graphOwner === 'public') return;
    throw new PublicServiceError(
      this.graphOwner === undefined
        ? 'there is no graph: call Init first'
        : 'the graph belongs to a caller that chooses its own job ids',
    );
  }

  private graphLoss(caller: pb.Caller | undefined): string | undefined {
    const expected = caller?.bootId ?? '';
    if (this.engine.bootId === '') return 'the server has no graph';
    if (expected === '' || expected === this.engine.bootId) return undefined;
    return 'the server has a graph of another caller';
  }

  private checkFence(caller: pb.Caller | undefined): void {
    const fence = caller?.fence ?? 0;
    if (fence < this.fence) {
      throw new FluxqError(
        'FLUXQ_FLUXION_FENCED',
        `the fencing number is lower than ${this.fence}, the number of a newer leader`,
        {
          field: 'fence',
          value: fence,
          remedy: 'stop scheduling: another replica is the leader',
        },
      );
    }
    this.fence = fence;
  }

  private serial<Request, Response>(work: Call<Request, Response>): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      this.executor
        .run(async () => {
          // A caller that has given up would never cancel the allocation of its match.
          if (call.cancelled)
            throw Object.assign(new Error('the caller cancelled the call'), { code: status.CANCELLED });
          return work(call.request).catch((error: unknown) => {
            throw faultOf(error);
          });
        })
        .then(
          (response) => callback(null, response),
          (error: unknown) => callback(errorToWire(error)),
        );
    };
  }
}

/**
 * What the engine throws by a fault of its own is no refusal, nor a call without an answer, which a caller would repeat for
 * ever: the same call fails again.
 */
function faultOf(error: unknown): unknown {
  if (error instanceof FluxqError || error instanceof PublicServiceError) return error;
  return new FluxqError('FLUXQ_FLUXION_ENGINE', `the engine failed: ${messageOf(error)}`, {
    remedy: 'report it as a bug',
    cause: error,
  });
}
