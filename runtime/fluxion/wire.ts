/** Converts between the program's types (types.ts) and the messages of the protocol (generated). */
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { FluxqError, messageOf } from '../errors';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';
import type { EngineResult } from './engine';
import * as pb from './generated/fluxion';
import type { FluxionState, MatchOperation, MatchResult } from './types';

const DETAIL = 'fluxq-error-bin';

// ---- nodes and allocations

export function nodeToWire({ name, units, properties = [], zone, rack, up = true }: GraphNode): pb.Node {
  return { name, units: countsToWire(units), properties: [...properties], zone, rack, down: !up };
}

export function nodeFromWire({ name, units, properties, zone, rack, down }: pb.Node): GraphNode {
  return {
    name,
    units: countsFromWire(units),
    properties,
    up: !down,
    ...(zone === undefined ? {} : { zone }),
    ...(rack === undefined ? {} : { rack }),
  };
}

export function allocationToWire({ jobid, start, end, nodes }: Allocation): pb.Allocation {
  return {
    jobid,
    start,
    end,
    nodes: nodes.map(({ name, units, exclusive = false }) => ({
      name,
      units: Object.entries(units).map(([type, ids]) => ({ type, ids })),
      exclusive,
    })),
  };
}

export function allocationFromWire({ jobid, start, end, nodes }: pb.Allocation): Allocation {
  return {
    jobid,
    start,
    end,
    nodes: nodes.map(({ name, units, exclusive }) => ({
      name,
      units: Object.fromEntries(units.map(({ type, ids }) => [type, ids])),
      ...(exclusive ? { exclusive: true } : {}),
    })),
  };
}

export function stateToWire({ bootId, jobs, nodes }: FluxionState): pb.StateResponse {
  return {
    bootId,
    jobs: jobs.map(allocationToWire),
    nodes: nodes.map(({ name, up, total, free, properties, zone, rack }) => ({
      name,
      down: !up,
      total: countsToWire(total),
      free: countsToWire(free),
      properties: [...properties],
      zone,
      rack,
    })),
  };
}

export function stateFromWire({ bootId, jobs, nodes }: pb.StateResponse): FluxionState {
  return {
    bootId,
    jobs: jobs.map(allocationFromWire),
    nodes: nodes.map(({ name, down, total, free, properties, zone, rack }) => ({
      name,
      up: !down,
      total: countsFromWire(total),
      free: countsFromWire(free),
      properties,
      ...(zone === undefined ? {} : { zone }),
      ...(rack === undefined ? {} : { rack }),
    })),
  };
}

function countsToWire(counts: UnitCounts): pb.UnitCount[] {
  return Object.entries(counts).map(([type, count]) => ({ type, count }));
}

function countsFromWire(counts: readonly pb.UnitCount[]): UnitCounts {
  return Object.fromEntries(counts.map(({ type, count }) => [type, count]));
}

// ---- matches

const OPERATIONS: Readonly<Record<MatchOperation, pb.MatchRequest_Operation>> = {
  allocate: pb.MatchRequest_Operation.ALLOCATE,
  allocate_with_satisfiability: pb.MatchRequest_Operation.ALLOCATE_WITH_SATISFIABILITY,
  allocate_orelse_reserve: pb.MatchRequest_Operation.ALLOCATE_ORELSE_RESERVE,
  without_allocating: pb.MatchRequest_Operation.WITHOUT_ALLOCATING,
  without_allocating_future: pb.MatchRequest_Operation.WITHOUT_ALLOCATING_FUTURE,
};

export function operationToWire(operation: MatchOperation): pb.MatchRequest_Operation {
  return OPERATIONS[operation];
}

/** @returns undefined for an operation that this version does not know */
export function operationFromWire(operation: pb.MatchRequest_Operation): MatchOperation | undefined {
  return (Object.keys(OPERATIONS) as MatchOperation[]).find((key) => OPERATIONS[key] === operation);
}

export function resultToWire(
  jobid: number,
  result: EngineResult,
  overhead: number,
  wantHeld = false,
): pb.MatchResponse {
  const base = { allocation: '', jobid, overhead, reserved: false, at: 0, granted: undefined, held: [] };
  if (result.status !== 'OK') {
    return {
      ...base,
      status: pb.MatchResponse_ResultType.MATCH_DENIED,
      verdict: pb.MatchResponse_Verdict[result.status],
      text: result.text,
    };
  }
  return {
    ...base,
    status: pb.MatchResponse_ResultType.MATCH_SUCCESS,
    reserved: result.reserved,
    at: result.allocation.start,
    verdict: pb.MatchResponse_Verdict.OK,
    text: '',
    granted: allocationToWire(result.allocation),
    held: wantHeld ? [...result.held()] : [],
  };
}

/** @throws FluxqError FLUXQ_FLUXION_IN_DOUBT for an inconsistent answer: the state of the server is not known */
export function resultFromWire({ verdict, text, reserved, granted }: pb.MatchResponse): MatchResult {
  switch (verdict) {
    case pb.MatchResponse_Verdict.BUSY:
      return { status: 'BUSY', text };
    case pb.MatchResponse_Verdict.UNSATISFIABLE:
      return { status: 'UNSATISFIABLE', text };
    case pb.MatchResponse_Verdict.INVALID:
      return { status: 'INVALID', text };
    case pb.MatchResponse_Verdict.NOT_READY:
      return { status: 'NOT_READY', text };
    default:
      if (verdict !== pb.MatchResponse_Verdict.OK || granted === undefined) {
        throw inDoubt(`the server answered with verdict ${verdict}`);
      }
      return { status: 'OK', reserved, allocation: allocationFromWire(granted) };
  }
}

// ---- errors

/** The error of a call after which client and server may disagree: a timeout, a lost connection, another graph. */
export function inDoubt(reason: string, cause?: unknown): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `the state of Fluxion is not known: ${reason}`, {
    remedy: 'initialise the graph and replay the allocations',
    retryable: true,
    cause,
  });
}

const STATUS_OF: Readonly<Record<string, status>> = {
  FLUXQ_FLUXION_FENCED: status.ABORTED,
  FLUXQ_FLUXION_NOT_READY: status.FAILED_PRECONDITION,
  FLUXQ_FLUXION_GRAPH: status.INVALID_ARGUMENT,
  FLUXQ_FLUXION_POLICY: status.INVALID_ARGUMENT,
  FLUXQ_FLUXION_REPLAY: status.FAILED_PRECONDITION,
  FLUXQ_FLUXION_IDSET: status.INVALID_ARGUMENT,
};

/** A FluxqError keeps its code in the trailer; any other error is UNKNOWN, as from the public service. */
export function errorToWire(error: unknown): Partial<ServiceError> {
  if (!(error instanceof FluxqError)) return { code: status.UNKNOWN, details: messageOf(error) };
  const text = error.message.replace(`${error.code}: `, '');
  const metadata = new Metadata();
  const detail = pb.ErrorDetail.encode({ code: error.code, text, retryable: error.retryable }).finish();
  metadata.set(DETAIL, Buffer.from(detail));
  return { code: STATUS_OF[error.code] ?? status.UNKNOWN, details: error.message, metadata };
}

/** @returns undefined for an error without our detail in its trailer */
export function errorFromWire(error: ServiceError): FluxqError | undefined {
  const [bytes] = error.metadata?.get(DETAIL) ?? [];
  if (!(bytes instanceof Buffer)) return undefined;
  const { code, text, retryable } = pb.ErrorDetail.decode(bytes);
  return new FluxqError(code as `FLUXQ_${string}`, text, { retryable, cause: error });
}
