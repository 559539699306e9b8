/**
 * What callers of the public three-RPC service get from ours: its answers. Job
 * ids are counted here from 1, time stands at 0, a refusal is a gRPC error.
 */
import { status } from '@grpc/grpc-js';
import { parse } from 'yaml';
import { MATCH_POLICIES, type MatchPolicy } from '../../../constructs/api/policies';
import { FluxqError, messageOf } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Engine } from '../engine';
import * as pb from '../generated/fluxion';

/** A gRPC error as the public service sends it: a status and a text. */
export class PublicRefusal extends Error {
  readonly code = status.UNKNOWN;
}

export class PublicCaller {
  private jobid = 0;

  constructor(private readonly engine: Engine) {}

  async init({ policy, jgf }: pb.InitRequest): Promise<pb.InitResponse> {
    this.jobid = 0;
    // The public service's default, like flux-sched's own, is `first`.
    const bootId = await this.engine.initJgf({
      jgf,
      policy: parsePolicy(policy === '' ? 'first' : policy),
      now: 0,
    });
    return { status: pb.InitResponse_ResultType.INIT_SUCCESS, bootId };
  }

  async match({ jobspec, reservation }: pb.MatchRequest, seconds: () => number): Promise<pb.MatchResponse> {
    const operation = reservation ? 'allocate_orelse_reserve' : 'allocate';
    const parsed = parseJobspec(jobspec);
    if (typeof parsed === 'string')
      throw new PublicRefusal(`[Fluxion] Error in ReapiCliMatchAllocate: ${parsed}`);
    const jobid = ++this.jobid;
    const result = await this.engine.match({ jobid, jobspec: parsed, operation, now: 0 });
    if (result.status !== 'OK') {
      const what =
        result.status === 'INVALID'
          ? '[Fluxion] Error in ReapiCliMatchAllocate'
          : 'Allocation was not possible';
      throw new PublicRefusal(`${what}: ${result.text}`);
    }
    return {
      allocation: await this.engine.jgf(jobid),
      jobid,
      reserved: result.reserved,
      at: result.allocation.start,
      overhead: seconds(),
      status: pb.MatchResponse_ResultType.MATCH_SUCCESS,
      verdict: pb.MatchResponse_Verdict.OK,
      text: '',
      granted: undefined,
      held: [],
    };
  }

  async cancel(jobid: number): Promise<pb.CancelResponse> {
    await this.engine.cancel(jobid);
    return { jobID: jobid, error: 0, status: pb.CancelResponse_ResultType.CANCEL_SUCCESS };
  }
}

/** @throws FluxqError FLUXQ_FLUXION_POLICY */
export function parsePolicy(text: string): MatchPolicy {
  const policy = MATCH_POLICIES.find((known) => known === text);
  if (policy !== undefined) return policy;
  throw new FluxqError('FLUXQ_FLUXION_POLICY', 'no such match policy', {
    field: 'policy',
    value: text,
    remedy: `choose one of ${MATCH_POLICIES.join(', ')}`,
  });
}

/** JSON, or YAML as fluxqueue sends it; the text of the error where it is neither. Its rules are the engine's. */
export function parseJobspec(text: string): Jobspec | string {
  try {
    return JSON.parse(text) as Jobspec;
  } catch {
    try {
      return parse(text) as Jobspec;
    } catch (error) {
      return messageOf(error);
    }
  }
}
