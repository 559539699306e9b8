/** Runs the fault points one after the other on one control plane and checks the invariants after each one. */
import { setTimeout as pause } from 'node:timers/promises';
import { differences, PersistentDifferences } from '../invariants/agreement';
import { doubleGrants, unexplainedChanges } from '../invariants/log';
import type { Observation, SeenRow, Violation } from '../invariants/observation';
import { orderViolations } from '../invariants/order';
import { changedTerms } from '../invariants/terms';
import type { Fixture } from '../stack/suite';
import { Controller } from './controller';
import { type FaultPoint, nameOf } from './fault-points';
import { Observer } from './observer';
import { NAMESPACE, Scenario } from './scenario';

export interface MatrixResult {
  readonly points: number;
  /** Number of times the scenario was run. */
  readonly runs: number;
  readonly violations: readonly (Violation & { readonly point?: FaultPoint })[];
  /** Fault points whose call was never made, so that they were not tested. */
  readonly missed: readonly FaultPoint[];
}

/** Maximum number of runs of the scenario for one fault point. */
const MAX_ROUNDS = 4;
/** Time in which the call of a round must come, in milliseconds; another round follows. */
const TRIGGER_MS = 20_000;
/** Time in which all workloads of a round must finish, in milliseconds. */
const ROUND_MS = 120_000;
const OBSERVE_MS = 100;

export async function playMatrix(
  fixture: Fixture,
  points: readonly FaultPoint[],
  print: (line: string) => void,
): Promise<MatrixResult> {
  const matrix = await Matrix.create(fixture, print);
  try {
    for (const point of points) await matrix.play(point);
    return await matrix.result();
  } finally {
    await matrix.stop();
  }
}

class Matrix {
  private readonly violations: (Violation & { readonly point?: FaultPoint })[] = [];
  private readonly missed: FaultPoint[] = [];
  private readonly faults: number[] = [];
  private points = 0;
  private runs = 0;

  private constructor(
    private readonly controller: Controller,
    private readonly observer: Observer,
    private readonly scenario: Scenario,
    private readonly print: (line: string) => void,
  ) {}

  static async create(fixture: Fixture, print: (line: string) => void): Promise<Matrix> {
    const controller = await Controller.create(fixture.stack);
    const { postgres } = fixture.stack;
    const observer = await Observer.create(postgres.url, fixture.client, controller.engine, NAMESPACE);
    const matrix = new Matrix(controller, observer, await Scenario.create(fixture), print);
    // The controller lists all nodes and FluxSetups before the first fault point.
    await controller.next();
    return matrix;
  }

  async play(point: FaultPoint): Promise<void> {
    const began = performance.now();
    const trigger = await this.controller.next(point);
    this.faults.push(Date.now() / 1000);
    for (let round = 0; round < MAX_ROUNDS && !trigger.isTriggered; round++) {
      this.runs += 1;
      await this.scenario.play(point, trigger);
      if (point.call === 'lease.release') await this.controller.resign();
      await Promise.race([trigger.triggered, pause(TRIGGER_MS)]);
    }
    this.faults.push(Date.now() / 1000);
    if (trigger.isTriggered) this.points += 1;
    else this.missed.push(point);
    if (point.fault === 'kill' || point.call === 'lease.release') await this.controller.next();
    const faults = await this.settle((seen) => this.unfinished(seen));
    await this.scenario.clear();
    await this.scenario.removeSpare();
    faults.push(...(await this.settle(({ rows }) => rows.filter(isActive).map(describe))));
    this.violations.push(...faults.map((fault) => ({ ...fault, point })));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const verdict = faults.length > 0 ? faults.map(({ text }) => text).join('; ') : 'ok';
    this.print(`${nameOf(point)}: ${trigger.isTriggered ? verdict : 'never called'} (${seconds} s)`);
  }

  /**
   * Waits until nothing is open and all views agree; a timeout is a violation.
   * @param openIn what is not as it should be in the end
   */
  private async settle(openIn: (seen: Observation) => readonly string[]): Promise<Violation[]> {
    const persistent = new PersistentDifferences();
    const found: Violation[] = [];
    const until = performance.now() + ROUND_MS;
    for (;;) {
      const seen = await this.observer.observe();
      const now = differences(seen);
      found.push(...persistent.observe(performance.now() / 1000, now));
      const open = openIn(seen);
      if (open.length === 0 && now.length === 0) return found;
      if (performance.now() > until) {
        const lost = open.map((text): Violation => ({ invariant: 'lost', text: `${text} stays as it is` }));
        return [...found, ...lost];
      }
      await pause(OBSERVE_MS);
    }
  }

  /**
   * ReplicaSets without a running pod, and other workloads of the round that have not finished. A workload that was
   * deleted before the controller saw it needs no row.
   */
  private unfinished({ rows, jobs, pods }: Observation): readonly string[] {
    const byUid = new Map(rows.map((row) => [row.uid, row]));
    // The garbage collector deletes objects with some delay on a new control plane.
    const staying = [...jobs, ...pods].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const there = new Set(staying.map(({ metadata }) => metadata.uid));
    const unfinished = [...this.scenario.uids].flatMap((uid) => {
      const row = byUid.get(uid);
      if (row === undefined) return there.has(uid) ? [`${uid} without a row`] : [];
      return isActive(row) ? [describe(row)] : [];
    });
    return [...this.scenario.idleSets(pods).map((name) => `ReplicaSet ${name}`), ...unfinished];
  }

  /** Checks the complete event log at the end. */
  async result(): Promise<MatrixResult> {
    const [events, rows, seen] = [
      await this.observer.events(),
      await this.observer.rows(),
      await this.observer.observe(),
    ];
    const { stopped, lostNodes, disturbances } = this.scenario;
    const always = { from: -Infinity, until: Infinity, backAt: Infinity };
    const all = [...disturbances, ...this.faults].sort((a, b) => a - b);
    const interventions = {
      stopped,
      losses: [...lostNodes].map((node) => ({ node, ...always })),
      services: false,
      closures: [],
      changes: [],
      queueChanges: [],
      disturbances: all,
      comparable: true,
    };
    const violations = [
      ...this.violations,
      ...doubleGrants(events),
      ...unexplainedChanges({ ...seen, rows, events }, interventions),
      ...changedTerms(events, interventions),
      ...orderViolations(events, rows, interventions),
      ...this.controller.fenced.map(({ message }): Violation => ({ invariant: 'I6', text: message })),
    ];
    return { points: this.points, runs: this.runs, violations, missed: this.missed };
  }

  async stop(): Promise<void> {
    await this.observer.close();
    await this.controller.stop();
  }
}

function isActive({ phase }: SeenRow): boolean {
  return phase !== 'Finished';
}

function describe({ name, phase, reason, message }: SeenRow): string {
  return `${name} (${phase} ${reason ?? ''}: ${message ?? ''})`;
}
