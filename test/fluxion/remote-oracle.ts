/** A Fluxion service as a server that replays recordings: it gets JGF and returns vertex paths. */

import { Channel } from '../../runtime/fluxion/client/channel';
import {
  FluxionServiceService,
  MatchRequest,
  MatchResponse_Verdict,
} from '../../runtime/fluxion/generated/fluxion';
import type { JgfGraph } from '../../runtime/fluxion/jgf/types';
import type { MatchOperation } from '../../runtime/fluxion/types';
import { operationToWire } from '../../runtime/fluxion/wire';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { OracleAnswer, OracleServer } from './oracle';

const DEADLINE = 30_000;

export class RemoteOracleServer implements OracleServer {
  private readonly channel: Channel;
  private readonly held = new Set<number>();
  private bootId = '';

  /** @param address `unix:/path`, `host:port` or `grpc://host:port` */
  constructor(address: string) {
    this.channel = new Channel(address.replace(/^grpc:\/\//, ''), undefined);
  }

  async init(graph: JgfGraph, options: Readonly<Record<string, string>>, now: number): Promise<void> {
    this.held.clear();
    const request = {
      policy: options.matcher_policy ?? 'first',
      jgf: JSON.stringify(graph),
      graph: undefined,
      now,
      caller: { fence: 0, bootId: '' },
      pruneFilters: options.prune_filters ?? '',
      warm: false,
    };
    this.bootId = (await this.channel.call(FluxionServiceService.init, request, DEADLINE)).bootId;
  }

  async match(operation: MatchOperation, id: number, jobspec: Jobspec, now: number): Promise<OracleAnswer> {
    const request = MatchRequest.create({
      jobspec: JSON.stringify(jobspec),
      operation: operationToWire(operation),
      jobid: id,
      now,
      caller: this.caller,
      wantHeld: true,
    });
    const { verdict, reserved, at, held } = await this.channel.call(
      FluxionServiceService.match,
      request,
      DEADLINE,
    );
    if (verdict !== MatchResponse_Verdict.OK) {
      return { result: MatchResponse_Verdict[verdict] as OracleAnswer['result'] };
    }
    if (!operation.startsWith('without_')) this.held.add(id);
    return { result: 'OK', reserved, at, held };
  }

  async satisfiable(jobspec: Jobspec): Promise<boolean> {
    const request = { jobspec: JSON.stringify(jobspec), caller: this.caller };
    return (await this.channel.call(FluxionServiceService.satisfiable, request, DEADLINE)).satisfiable;
  }

  async cancel(id: number): Promise<number> {
    await this.channel.call(FluxionServiceService.cancel, { jobID: id, caller: this.caller }, DEADLINE);
    return this.held.delete(id) ? 0 : -1;
  }

  async setStatus(path: string, up: boolean): Promise<number> {
    const request = { names: [path], up, caller: this.caller };
    await this.channel.call(FluxionServiceService.setStatus, request, DEADLINE);
    return 0;
  }

  async close(): Promise<void> {
    this.channel.close();
  }

  private get caller() {
    return { fence: 0, bootId: this.bootId };
  }
}
