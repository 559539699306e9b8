/**
 * The public service image: Init, Match and Cancel only. What it lacks is made
 * up from our own record of the jobs, or degraded; init says so in the log.
 */
import { randomUUID } from 'node:crypto';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { MatchPolicy } from '../../../constructs/api/policies';
import { FluxqError, messageOf } from '../../errors';
import { narrowed } from '../../jobspec/constraints';
import type { Constraint, Jobspec } from '../../jobspec/types';
import type { AllocatedNode, Allocation, GraphNode } from '../../resources/types';
import { TimeAxis, walltimeOf } from '../axis';
import type { FluxionLog } from '../engine';
import { FluxionServiceService, MatchRequest_Operation, type MatchResponse } from '../generated/fluxion';
import { parseAnswer, unitsOf } from '../jgf/allocation';
import { GraphLayout } from '../jgf/layout';
import { type BookedJob, JobRegistry, withoutNodes } from '../job-registry';
import { notReady } from '../matcher/engine';
import type { FluxionState, InitRequest, MatchRequest, MatchResult } from '../types';
import { inDoubt } from '../wire';
import type { Rpc } from './channel';
import type { Protocol, Timeouts } from './native-protocol';

const DEGRADED = [
  'BUSY, UNSATISFIABLE and INVALID can not be told apart: all are BUSY',
  'replayed, partly freed and drained jobs are matched again on their nodes: unit numbers may differ',
  'start times are exact for one reservation at a time only',
  'added nodes mean a new graph and a replay; reservations are dropped then',
  'fencing is not checked by the server',
];

/** Why a public server said no, as far as it says. */
const REFUSAL = 'the public service does not say why';

interface PublicJob extends BookedJob {
  /** The server's ids: one, or one per node after a replay. */
  readonly serverIds: readonly number[];
}

interface Graph {
  readonly layout: GraphLayout;
  readonly policy: MatchPolicy;
  readonly axis: TimeAxis;
  readonly bootId: string;
}

export class PublicProtocol implements Protocol {
  private graph: Graph | undefined;
  private readonly jobs = new JobRegistry<PublicJob>();
  /** Removed from our graph; the server still has them. */
  private readonly removed = new Set<string>();

  constructor(
    private readonly rpc: Rpc,
    private readonly timeouts: Required<Timeouts>,
    private readonly log: FluxionLog,
  ) {}

  async init({ nodes, policy, now }: InitRequest): Promise<string> {
    this.log.warn({ degraded: DEGRADED }, 'this is the public fluxion service: some answers are degraded');
    for (const { allocation } of this.jobs.values()) this.jobs.delete(allocation.jobid);
    this.graph = undefined;
    const layout = new GraphLayout(nodes);
    await this.initServer(layout, policy);
    this.graph = { layout, policy, axis: new TimeAxis(Math.floor(now)), bootId: randomUUID() };
    return this.graph.bootId;
  }

  async match({ jobid, jobspec, operation, now }: MatchRequest): Promise<MatchResult> {
    if (this.graph === undefined) return { status: 'NOT_READY', text: 'the graph was never initialised' };
    if (this.jobs.has(jobid)) return { status: 'INVALID', text: `job ${jobid} holds something already` };
    const { axis } = this.graph;
    const reservation = operation === 'allocate_orelse_reserve' || operation === 'without_allocating_future';
    const second = axis.at(now);
    const response = await this.ask(this.timed(jobspec, second), reservation);
    if (response === undefined) return { status: 'BUSY', text: REFUSAL };
    // A job that has overrun ended in the past for the server; it is taken to hold on for one second more.
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

  /** By a reservation that is cancelled at once: every job ends, so what fits at all fits in the end. */
  async satisfiable(jobspec: Jobspec): Promise<{ satisfiable: boolean; text: string }> {
    const { axis } = this.ready();
    const response = await this.ask(this.timed(jobspec, axis.second), true);
    if (response === undefined) return { satisfiable: false, text: REFUSAL };
    await this.cancelOnServer([response.jobid]);
    return { satisfiable: true, text: '' };
  }

  async replay(allocations: readonly Allocation[], now: number): Promise<void> {
    this.ready().axis.at(now);
    for (const allocation of allocations) {
      if (!(await this.grantAgain(allocation))) {
        throw new FluxqError('FLUXQ_FLUXION_REPLAY', 'the server has no room for it on its nodes', {
          field: 'jobid',
          value: allocation.jobid,
          remedy: 'requeue the workload',
        });
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
    if (!(await this.grantAgain(rest))) throw inDoubt(`job ${jobid} lost nodes that were not freed`);
    return false;
  }

  async addNodes(nodes: readonly GraphNode[]): Promise<void> {
    const { layout, policy, axis } = this.ready();
    layout.add(nodes);
    await this.initServer(layout, policy);
    // The new graph has no trace of the removed ones.
    this.removed.clear();
    for (const { allocation } of this.jobs.values()) {
      this.jobs.delete(allocation.jobid);
      if (allocation.start > axis.absolute(axis.second)) continue;
      if (!(await this.grantAgain(allocation)))
        throw inDoubt(`job ${allocation.jobid} did not fit the new graph`);
    }
  }

  async removeNodes(names: readonly string[]): Promise<readonly number[]> {
    const { layout } = this.ready();
    const hit = this.jobs.on(new Set(names)).map(({ allocation }) => allocation.jobid);
    for (const jobid of hit) await this.partialCancel(jobid, names);
    for (const name of names) {
      if (layout.nodes.has(name)) this.removed.add(name);
      layout.remove(name);
    }
    return hit;
  }

  async setStatus(names: readonly string[], up: boolean): Promise<void> {
    const { layout } = this.ready();
    for (const name of names) layout.setStatus(name, up);
  }

  async state(): Promise<FluxionState> {
    const { layout, axis, bootId } = this.ready();
    return this.jobs.state(bootId, layout, axis.absolute(axis.second));
  }

  /** Down nodes go in as up: the server couldn't bring them up again, so they are left out by constraint. */
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
      // Built on flux-sched 0.47 or newer it reads GraphML unless told otherwise; it pastes the policy into its
      // options unquoted, which is the only way to tell it.
      this.log.warn({ text: messageOf(error) }, 'init was refused; trying again with the graph format named');
      await this.sendInit(`${policy}","load_format":"jgf`, jgf).catch((again: unknown) => {
        throw refusedInit(again);
      });
    }
  }

  private async sendInit(policy: string, jgf: string): Promise<void> {
    const request = { policy, jgf, graph: undefined, now: 0, caller: undefined, pruneFilters: '' };
    await this.rpc.call(FluxionServiceService.init, request, this.timeouts.init);
  }

  /** @returns undefined when it was refused */
  private async ask(jobspec: Jobspec, reservation: boolean): Promise<MatchResponse | undefined> {
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
      return await this.rpc.call(FluxionServiceService.match, request, this.timeouts.call);
    } catch (error) {
      if ((error as ServiceError).code === status.UNKNOWN) return undefined;
      throw inDoubt(messageOf(error), error);
    }
  }

  private async cancelOnServer(ids: readonly number[]): Promise<void> {
    for (const jobID of ids) {
      await this.rpc
        .call(FluxionServiceService.cancel, { jobID, caller: undefined }, this.timeouts.call)
        .catch((error: unknown) => {
          throw inDoubt(messageOf(error), error);
        });
    }
  }

  /** Matches each node's part on that node. False, with nothing held, when one has no room. */
  private async grantAgain(allocation: Allocation): Promise<boolean> {
    const { axis } = this.ready();
    // One that has overrun still runs: a second more.
    const remaining = Math.max(allocation.end - axis.absolute(axis.second), 1);
    const serverIds: number[] = [];
    for (const node of allocation.nodes) {
      const response = await this.ask(nodeJobspec(node, axis.duration(axis.second, remaining)), false);
      if (response === undefined) {
        await this.cancelOnServer(serverIds);
        return false;
      }
      serverIds.push(response.jobid);
    }
    this.jobs.set({ allocation, reserved: false, serverIds });
    return true;
  }

  /** With the duration on the server's axis, and away from nodes that are down or removed. */
  private timed(jobspec: Jobspec, second: number): Jobspec {
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
          ...(avoid.length === 0 ? {} : { constraints: away(system.constraints, avoid) }),
        },
      },
    };
  }

  private ready(): Graph {
    if (this.graph === undefined) throw notReady();
    return this.graph;
  }
}

function away(constraints: Constraint | undefined, names: readonly string[]): Constraint {
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
      'use the image of this project: the public one takes 4 MiB at most and needs flux-sched that reads JGF',
    cause: error,
  });
}
