/**
 * Answers callers of the public three-RPC service as that service does: it counts job ids from 1, time is always 0, and
 * a refusal is a gRPC error.
 */
import { status } from '@grpc/grpc-js';
import { parse } from 'yaml';
import { MATCH_POLICIES, type MatchPolicy } from '../../../constructs/api/policies';
import { FluxqError, messageOf } from '../../errors';
import type { Jobspec } from '../../jobspec/types';
import type { Engine } from '../engine';
import * as pb from '../generated/fluxion';

/** A gRPC error of the public service: status UNKNOWN and a text. */
export class PublicServiceError extends Error {
  readonly code = status.UNKNOWN;
}

export class PublicService {
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
      throw new PublicServiceError(`[Fluxion] Error in ReapiCliMatchAllocate: ${parsed}`);
    const jobid = ++this.jobid;
    const result = await this.engine.match({ jobid, jobspec: parsed, operation, now: 0 });
    if (result.status !== 'OK') {
      const what =
        result.status === 'INVALID'
          ? '[Fluxion] Error in ReapiCliMatchAllocate'
          : 'Allocation was not possible';
      throw new PublicServiceError(`${what}: ${result.text}`);
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
  throw new FluxqError('FLUXQ_FLUXION_POLICY', 'the match policy is not known', {
    field: 'policy',
    value: text,
    remedy: `use one of: ${MATCH_POLICIES.join(', ')}`,
  });
}

/**
 * Parses JSON, or YAML, which the Go fluxqueue sends. The engine validates the result.
 * @returns the text of the error for other input
 */
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
