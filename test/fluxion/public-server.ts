/**
 * A server that behaves like the public image: it has Init, Match and Cancel only, counts job ids from 1, has no clock,
 * and answers UNKNOWN for a refusal.
 */
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import {
  type CancelRequest,
  type CancelResponse,
  FluxionServiceService,
  type InitRequest,
  type InitResponse,
  type MatchRequest,
  type MatchResponse,
} from '../../runtime/fluxion/generated/fluxion';
import { Matcher } from '../../runtime/fluxion/matcher/matcher';

export interface PublicServer {
  readonly address: string;
  readonly requests: (InitRequest | MatchRequest | CancelRequest)[];
  stop(): Promise<void>;
}

export interface PublicServerOptions {
  /** Behaves like flux-sched 0.47 and later: Init fails unless the policy also sets the graph format. @default false */
  readonly readsGraphml?: boolean;
}

class Graph {
  matcher: Matcher | undefined;
  jobid = 0;
}

export async function startPublicServer({
  readsGraphml = false,
}: PublicServerOptions = {}): Promise<PublicServer> {
  const graph = new Graph();
  const requests: PublicServer['requests'] = [];
  const unary =
    <Request extends InitRequest | MatchRequest | CancelRequest, Response>(
      work: (request: Request) => Response,
    ): handleUnaryCall<Request, Response> =>
    ({ request }, callback) => {
      requests.push(request);
      try {
        callback(null, work(request));
      } catch (error) {
        callback({ code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) });
      }
    };
  const { init, match, cancel } = FluxionServiceService;
  const server = new Server();
  server.addService(
    { init, match, cancel },
    {
      init: unary((request: InitRequest) => initGraph(graph, request, readsGraphml)),
      match: unary((request: MatchRequest) => matchOn(graph, request)),
      cancel: unary((request: CancelRequest) => cancelOn(graph, request)),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const stop = () => new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  return { address: `127.0.0.1:${port}`, requests, stop };
}

/** The public service pastes the policy into its JSON options without escaping. */
function initGraph(graph: Graph, { policy, jgf }: InitRequest, readsGraphml: boolean): InitResponse {
  const options = JSON.parse(`{"matcher_policy":"${policy}"}`) as {
    matcher_policy: string;
    load_format?: string;
  };
  if (readsGraphml && options.load_format !== 'jgf')
    throw new Error('issue initializing resource api client -1');
  graph.matcher = Matcher.fromJgf(jgf, { policy: options.matcher_policy });
  graph.jobid = 0;
  return { status: 0, bootId: '' };
}

function matchOn(graph: Graph, { jobspec, reservation }: MatchRequest): MatchResponse {
  if (graph.matcher === undefined) throw new Error('the public service would crash');
  const jobid = ++graph.jobid;
  const operation = reservation ? 'allocate_orelse_reserve' : 'allocate';
  const outcome = graph.matcher.match({ jobid, jobspec: JSON.parse(jobspec), operation, now: 0 });
  if (outcome.status !== 'OK') throw new Error('[Fluxion] Error in ReapiCliMatchAllocate');
  return {
    allocation: graph.matcher.jgfOf(jobid) ?? '',
    jobid,
    reserved: outcome.start !== 0,
    at: outcome.start,
    overhead: 0.0001,
    status: 0,
    verdict: 0,
    text: '',
    granted: undefined,
    held: [],
  };
}

function cancelOn(graph: Graph, { jobID }: CancelRequest): CancelResponse {
  graph.matcher?.cancel(jobID);
  return { jobID: 0, error: 0, status: 0 };
}
