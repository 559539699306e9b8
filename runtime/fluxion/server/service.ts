/**
 * The calls of the protocol over one engine: serial, fenced, bound to a boot
 * id. A request without `caller` is one of the public service.
 */
import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { FluxqError, hasCode } from '../../errors';
import type { Engine } from '../engine';
import type { SerialExecutor } from '../executor';
import * as pb from '../generated/fluxion';
import {
  allocationFromWire,
  errorToWire,
  inDoubt,
  nodeFromWire,
  operationFromWire,
  resultToWire,
  stateToWire,
} from '../wire';
import { PublicCaller, PublicRefusal, parseJobspec, parsePolicy } from './public-service';

type Call<Request, Response> = (request: Request) => Promise<Response>;

export class FluxionService {
  private fence = 0;
  /** Who made the graph: job ids of public callers are counted here and would meet those of ours. */
  private graphOf: 'public' | 'ours' | undefined;
  private readonly publicCaller: PublicCaller;

  constructor(
    private readonly engine: Engine,
    private readonly executor: SerialExecutor,
  ) {
    this.publicCaller = new PublicCaller(engine);
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
        this.admit(caller);
        return { gone: await this.engine.partialCancel(jobid, nodes) };
      }),
      addNodes: this.serial(async ({ caller, nodes }) => {
        this.admit(caller);
        await this.engine.addNodes(nodes.map(nodeFromWire));
        return {};
      }),
      removeNodes: this.serial(async ({ caller, names }) => {
        this.admit(caller);
        return { jobids: [...(await this.engine.removeNodes(names))] };
      }),
      setStatus: this.serial(async ({ caller, names, up }) => {
        this.admit(caller);
        await this.engine.setStatus(names, up);
        return {};
      }),
      // Reading is for everyone, whatever its fence: a second controller, a person with grpcurl.
      state: this.serial(async ({ caller }) => {
        const lost = this.lost(caller);
        if (lost !== undefined) throw inDoubt(lost);
        return stateToWire(await this.engine.state());
      }),
    };
  }

  private async init(request: pb.InitRequest): Promise<pb.InitResponse> {
    this.checkFence(request.caller);
    this.graphOf = undefined;
    if (request.caller === undefined) {
      const response = await this.publicCaller.init(request);
      this.graphOf = 'public';
      return response;
    }
    const { graph, jgf, now, pruneFilters } = request;
    const policy = parsePolicy(request.policy);
    const bootId =
      graph === undefined
        ? await this.engine.initJgf({ jgf, policy, now, ...(pruneFilters === '' ? {} : { pruneFilters }) })
        : await this.engine.init({ nodes: graph.nodes.map(nodeFromWire), policy, now });
    this.graphOf = 'ours';
    return { status: pb.InitResponse_ResultType.INIT_SUCCESS, bootId };
  }

  private async match(request: pb.MatchRequest): Promise<pb.MatchResponse> {
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    if (request.operation === pb.MatchRequest_Operation.OPERATION_UNSPECIFIED) {
      this.admitPublic(request.caller);
      return this.publicCaller.match(request, seconds);
    }
    const { jobid, now, caller, wantHeld } = request;
    this.checkFence(caller);
    const lost = this.lost(caller);
    if (lost !== undefined) return resultToWire(jobid, { status: 'NOT_READY', text: lost }, seconds());
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
      this.admitPublic(caller);
      return this.publicCaller.cancel(jobID);
    }
    this.admit(caller);
    await this.engine.cancel(jobID);
    return { jobID, error: 0, status: pb.CancelResponse_ResultType.CANCEL_SUCCESS };
  }

  private async satisfiable({ jobspec, caller }: pb.SatisfiableRequest): Promise<pb.SatisfiableResponse> {
    this.admit(caller);
    const parsed = parseJobspec(jobspec);
    return typeof parsed === 'string'
      ? { satisfiable: false, text: parsed }
      : this.engine.satisfiable(parsed);
  }

  private async replay({ allocations, now, caller }: pb.ReplayRequest): Promise<pb.ReplayResponse> {
    this.admit(caller);
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

  /** Every call of ours but init and match, which answers a lost graph with a verdict. */
  private admit(caller: pb.Caller | undefined): void {
    this.checkFence(caller);
    const lost = this.lost(caller);
    if (lost !== undefined) throw inDoubt(lost);
  }

  private admitPublic(caller: pb.Caller | undefined): void {
    this.checkFence(caller);
    if (this.graphOf === 'public') return;
    throw new PublicRefusal(
      this.graphOf === undefined
        ? 'no graph: call Init first'
        : 'this graph belongs to a caller that chooses its job ids',
    );
  }

  private lost(caller: pb.Caller | undefined): string | undefined {
    const expected = caller?.bootId ?? '';
    if (this.engine.bootId === '') return 'the server has no graph';
    if (expected === '' || expected === this.engine.bootId) return undefined;
    return 'the server has another graph than this caller made';
  }

  private checkFence(caller: pb.Caller | undefined): void {
    const fence = caller?.fence ?? 0;
    if (fence < this.fence) {
      throw new FluxqError(
        'FLUXQ_FLUXION_FENCED',
        `a newer leader (fence ${this.fence}) drives this server`,
        {
          field: 'fence',
          value: fence,
          remedy: 'stop scheduling: another replica leads',
        },
      );
    }
    this.fence = fence;
  }

  private serial<Request, Response>(work: Call<Request, Response>): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      this.executor
        .run(async () => {
          // Nobody would hear the answer: a match for a caller that has given up would only be a leak.
          if (call.cancelled)
            throw Object.assign(new Error('the caller has gone'), { code: status.CANCELLED });
          return work(call.request);
        })
        .then(
          (response) => callback(null, response),
          (error: unknown) => callback(errorToWire(error)),
        );
    };
  }
}
