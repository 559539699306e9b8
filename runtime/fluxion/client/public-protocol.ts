/**
 * The protocol of the public service image, which has Init, Match and Cancel only. The job registry replaces the missing
 * calls where it can; init logs the remaining limitations.
 */
import { randomUUID } from 'node:crypto';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { MatchPolicy } from '../../../constructs/api/policies';
import { FluxqError, messageOf } from '../../errors';
import { narrowed } from '../../jobspec/constraints';
import type { Constraint, Jobspec } from '../../jobspec/types';
import type { AllocatedNode, Allocation, GraphNode } from '../../resources/types';
import type { FluxionLog } from '../engine';
import { FluxionServiceService, MatchRequest_Operation, type MatchResponse } from '../generated/fluxion';
import { parseAnswer, unitsOf } from '../jgf/allocation';
import { GraphLayout } from '../jgf/layout';
import { JobRegistry, type RegisteredJob, withoutNodes } from '../job-registry';
import { notReady } from '../matcher/engine';
import { TimeAxis, walltimeOf } from '../time-axis';
import type { FluxionState, InitRequest, MatchRequest, MatchResult } from '../types';
import { inDoubt } from '../wire';
import type { Channel } from './channel';
import type { Protocol, Timeouts } from './native-protocol';

const DEGRADED = [
  'BUSY, UNSATISFIABLE and INVALID are all reported as BUSY',
  'replayed and partly cancelled jobs are matched again on their nodes: their unit numbers may differ',
  'start times are exact for one reservation at a time only',
  'adding nodes initialises a new graph with a replay, which drops reservations',
  'the server does not check the fencing number',
];

/** A public server gives no reason for a refusal. */
const REFUSAL = 'the public service gives no reason';

interface PublicJob extends RegisteredJob {
  /** Job ids of the server: one, or one per node after a replay. */
  readonly serverIds: readonly number[];
}

interface ServerGraph {
  readonly layout: GraphLayout;
  readonly policy: MatchPolicy;
  readonly axis: TimeAxis;
  readonly bootId: string;
}

export class PublicProtocol implements Protocol {
  private serverGraph: ServerGraph | undefined;
  private readonly jobs = new JobRegistry<PublicJob>();
  /** Removed nodes, which the graph of the server still contains. */
  private readonly removed = new Set<string>();

  constructor(
    private readonly channel: Channel,
    private readonly timeouts: Required<Timeouts>,
    private readonly log: FluxionLog,
  ) {}

  async init({ nodes, policy, now }: InitRequest): Promise<string> {
    this.log.warn(
      { degraded: DEGRADED },
      'the server is the public Fluxion service: some answers are degraded',
    );
    for (const { allocation } of this.jobs.values()) this.jobs.delete(allocation.jobid);
    this.serverGraph = undefined;
    const layout = new GraphLayout(nodes);
    await this.initServer(layout, policy);
    this.serverGraph = { layout, policy, axis: new TimeAxis(Math.floor(now)), bootId: randomUUID() };
    return this.serverGraph.bootId;
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<MatchResult> {
    if (this.serverGraph === undefined)
      return { status: 'NOT_READY', text: 'the graph was never initialised' };
    if (this.jobs.has(jobid)) return { status: 'INVALID', text: `job id ${jobid} is in use` };
    const { axis } = this.serverGraph;
    const reservation = operation === 'allocate_orelse_reserve' || operation === 'without_allocating_future';
    const second = axis.advanceTo(now);
    const response = await this.requestMatch(this.onServerAxis(jobspec, second), reservation);
    if (response === undefined) return { status: 'BUSY', text: REFUSAL };
    // For the server, a job that overruns its walltime has ended; we assume that it holds for one more second.
    const start = axis.absolute(response.reserved ? Math.max(response.at, second + 1) : second);
    const end = start + walltimeOf(jobspec.attributes.system.duration);
    const allocation = parseAnswer(response.allocation, { jobid, start, end });
    if (operation.startsWith('without_')) {
      await this.cancelOnServer([response.jobid]);
      return { status: 'OK', allocation, reserved: false };
    }
    const { reserved } = response;
    this.jobs.set({ allocation, reserved, serverIds: [response.jobid] });
    return { status: 'OK', allocation, reserved };
  }

  /** Makes a reservation and cancels it at once: every job ends, so a satisfiable request gets a start. */
  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    const { axis } = this.ready();
    const response = await this.requestMatch(this.onServerAxis(jobspec, axis.second), true);
    if (response === undefined) return { satisfiable: false, text: REFUSAL };
    await this.cancelOnServer([response.jobid]);
    return { satisfiable: true, text: '' };
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    this.ready().axis.advanceTo(now);
    for (const allocation of allocations) {
      if (!(await this.rematch(allocation))) {
        throw new FluxqError(
          'FLUXQ_FLUXION_REPLAY',
          'the units of the allocation are not free on its nodes',
          {
            field: 'jobid',
            value: allocation.jobid,
            remedy: 'requeue the workload',
          },
        );
      }
    }
  }

  async cancel(jobid: number): Promise<void> {
    this.ready();
    const job = this.jobs.get(jobid);
    if (job === undefined) return;
    await this.cancelOnServer(job.serverIds);
    this.jobs.delete(jobid);
  }

  async partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean> {
    const job = this.jobs.get(jobid);
    if (job === undefined) return true;
    await this.cancel(jobid);
    const rest = withoutNodes(job.allocation, new Set(nodes));
    if (rest.nodes.length === 0) return true;
    if (!(await this.rematch(rest))) throw inDoubt(`job ${jobid} lost its remaining nodes`);
    return false;
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    const { layout, policy, axis } = this.ready();
    layout.add(nodes);
    await this.initServer(layout, policy);
    // The new graph does not contain them.
    this.removed.clear();
    for (const { allocation } of this.jobs.values()) {
      this.jobs.delete(allocation.jobid);
      if (allocation.start > axis.absolute(axis.second)) continue;
      if (!(await this.rematch(allocation)))
        throw inDoubt(`job ${allocation.jobid} does not fit the new graph`);
    }
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    const { layout } = this.ready();
    const affected = this.jobs.withUnitsOn(new Set(names)).map(({ allocation }) => allocation.jobid);
    for (const jobid of affected) await this.partialCancel(jobid, names);
    for (const name of names) {
      if (layout.nodes.has(name)) this.removed.add(name);
      layout.remove(name);
    }
    return affected;
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const { layout } = this.ready();
    for (const name of names) layout.setStatus(name, up);
  }

  async state(): Promise<FluxionState> {
    const { layout, axis, bootId } = this.ready();
    return this.jobs.state(bootId, layout, axis.absolute(axis.second));
  }

  /** Loads down nodes as up, because the server can't bring them up later; a constraint excludes them instead. */
  private async initServer(layout: GraphLayout, policy: MatchPolicy): Promise<void> {
    const up = [...layout.nodes.values()].map((placed) => ({
      ...placed,
      node: { ...placed.node, up: true },
    }));
    const jgf = JSON.stringify(layout.jgf(up));
    try {
      await this.sendInit(policy, jgf);
    } catch (error) {
      if ((error as ServiceError).code !== status.UNKNOWN) throw refusedInit(error);
      // A service built on flux-sched 0.47 or newer reads GraphML by default. It pastes the policy into its JSON
      // options without escaping, which is the only way to set the graph format.
      this.log.warn(
        { text: messageOf(error) },
        'the server refused init; retrying with an explicit graph format',
      );
      await this.sendInit(`${policy}","load_format":"jgf`, jgf).catch((again: unknown) => {
        throw refusedInit(again);
      });
    }
  }

  private async sendInit(policy: string, jgf: string): Promise<void> {
    const request = {
      policy,
      jgf,
      graph: undefined,
      now: 0,
      caller: undefined,
      pruneFilters: '',
      warm: false,
    };
    await this.channel.call(FluxionServiceService.init, request, this.timeouts.init);
  }

  /** @returns undefined when the server refuses the match */
  private async requestMatch(jobspec: Jobspec, reservation: boolean): Promise<MatchResponse | undefined> {
    const request = {
      jobspec: JSON.stringify(jobspec),
      request: 'allocate',
      reservation,
      operation: MatchRequest_Operation.OPERATION_UNSPECIFIED,
      jobid: 0,
      now: 0,
      caller: undefined,
      wantHeld: false,
    };
    try {
      return await this.channel.call(FluxionServiceService.match, request, this.timeouts.call);
    } catch (error) {
      if ((error as ServiceError).code === status.UNKNOWN) return undefined;
      throw inDoubt(messageOf(error), error);
    }
  }

  private async cancelOnServer(ids: readonly number[]): Promise<void> {
    for (const jobID of ids) {
      await this.channel
        .call(FluxionServiceService.cancel, { jobID, caller: undefined }, this.timeouts.call)
        .catch((error: unknown) => {
          throw inDoubt(messageOf(error), error);
        });
    }
  }

  /** Matches the part of each node on that node. False, with nothing allocated, when one part does not fit. */
  private async rematch(allocation: Allocation): Promise<boolean> {
    const { axis } = this.ready();
    // A job that overruns its walltime still runs: it holds for one more second.
    const remaining = Math.max(allocation.end - axis.absolute(axis.second), 1);
    const serverIds: number[] = [];
    for (const node of allocation.nodes) {
      const response = await this.requestMatch(
        nodeJobspec(node, axis.duration(axis.second, remaining)),
        false,
      );
      if (response === undefined) {
        await this.cancelOnServer(serverIds);
        return false;
      }
      serverIds.push(response.jobid);
    }
    this.jobs.set({ allocation, reserved: false, serverIds });
    return true;
  }

  /** The jobspec with its duration on the axis of the server, and without nodes that are down or removed. */
  private onServerAxis(jobspec: Jobspec, second: number): Jobspec {
    const { layout, axis } = this.ready();
    const { system } = jobspec.attributes;
    const avoid = [...layout.nodes.values()]
      .filter(({ node }) => node.up === false)
      .map(({ node }) => node.name);
    avoid.push(...this.removed);
    return {
      ...jobspec,
      attributes: {
        system: {
          ...system,
          duration: axis.duration(second, system.duration),
          ...(avoid.length === 0 ? {} : { constraints: excluding(system.constraints, avoid) }),
        },
      },
    };
  }

  private ready(): ServerGraph {
    if (this.serverGraph === undefined) throw notReady();
    return this.serverGraph;
  }
}

function excluding(constraints: Constraint | undefined, names: readonly string[]): Constraint {
  return narrowed(constraints, { not: [{ hostlist: names }] });
}

function nodeJobspec(node: AllocatedNode, duration: number): Jobspec {
  const units = unitsOf(node).map(([type, numbers]) => ({ type, count: numbers.length }));
  const slot = (inside: Jobspec['resources']) => ({ type: 'slot', count: 1, label: 'replay', with: inside });
  return {
    version: 9999,
    resources: node.exclusive
      ? [slot([{ type: 'node', count: 1 }])]
      : [{ type: 'node', count: 1, with: [slot(units)] }],
    tasks: [{ command: ['replay'], slot: 'replay', count: { per_slot: 1 } }],
    attributes: { system: { duration, constraints: { hostlist: [node.name] } } },
  };
}

function refusedInit(error: unknown): FluxqError {
  const { code } = error as ServiceError;
  if (code !== status.UNKNOWN && code !== status.RESOURCE_EXHAUSTED) return inDoubt(messageOf(error), error);
  return new FluxqError('FLUXQ_FLUXION_GRAPH', `the public service refused the graph: ${messageOf(error)}`, {
    remedy:
      'use the image of this project: the public one accepts 4 MiB at most and needs a flux-sched that reads JGF',
    cause: error,
  });
}
