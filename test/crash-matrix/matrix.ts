/** Plays the points one after the other on one control plane, and judges each by the oracle. */
import { setTimeout as pause } from 'node:timers/promises';
import { differences, Lasting } from '../invariants/agreement';
import { causeless, doubleGrants } from '../invariants/log';
import type { Observation, Violation } from '../invariants/observation';
import { orderFaults } from '../invariants/order';
import type { Fixture } from '../stack/suite';
import { Controller } from './controller';
import { Observer } from './observer';
import { needs, type Point } from './points';
import { NAMESPACE, Scenario } from './scenario';

export interface MatrixResult {
  readonly points: number;
  /** Rounds of the scenario. */
  readonly runs: number;
  readonly violations: readonly (Violation & { readonly point?: Point })[];
  /** Points that were never reached: the matrix has a hole there. */
  readonly missed: readonly Point[];
}

/** A call that is not made within so many rounds is missed. */
const MOST_ROUNDS = 4;
const SPRING_MS = 4_000;
/** Milliseconds in which everything of a round has to be over. */
const ROUND_MS = 40_000;
const LOOK_MS = 100;

export async function playMatrix(
  fixture: Fixture,
  points: readonly Point[],
  say: (line: string) => void,
): Promise<MatrixResult> {
  const matrix = await Matrix.create(fixture, say);
  try {
    for (const point of points) await matrix.play(point);
    return await matrix.result();
  } finally {
    await matrix.stop();
  }
}

class Matrix {
  private readonly violations: (Violation & { readonly point?: Point })[] = [];
  private readonly missed: Point[] = [];
  private readonly faults: number[] = [];
  private points = 0;
  private runs = 0;

  private constructor(
    private readonly controller: Controller,
    private readonly observer: Observer,
    private readonly scenario: Scenario,
    private readonly say: (line: string) => void,
  ) {}

  static async create(fixture: Fixture, say: (line: string) => void): Promise<Matrix> {
    const controller = await Controller.create(fixture.stack);
    const { postgres } = fixture.stack;
    const observer = await Observer.create(postgres.url, fixture.client, controller.engine, NAMESPACE);
    const matrix = new Matrix(controller, observer, await Scenario.create(fixture), say);
    // Nodes, FluxSetups and what is there at all are known before the first point.
    await controller.next();
    return matrix;
  }

  async play(point: Point): Promise<void> {
    const began = performance.now();
    const wire = await this.controller.next(point);
    this.faults.push(Date.now() / 1000);
    for (let round = 0; round < MOST_ROUNDS && !wire.isSprung; round++) {
      this.runs += 1;
      await this.scenario.play(point.call, wire.sprung);
      await Promise.race([wire.sprung, pause(SPRING_MS)]);
    }
    this.faults.push(Date.now() / 1000);
    if (wire.isSprung) this.points += 1;
    else this.missed.push(point);
    if (point.deed === 'kill') await this.controller.next();
    const faults = await this.settle();
    this.violations.push(...faults.map((fault) => ({ ...fault, point })));
    await this.scenario.clear();
    if (needs(point.call) === 'node-loss') await this.scenario.removeSpare();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const verdict = faults.length > 0 ? faults.map(({ text }) => text).join('; ') : 'good';
    this.say(`${point.call}, ${point.deed}: ${wire.isSprung ? verdict : 'never called'} (${seconds} s)`);
  }

  /** Until all of the round is over and everyone agrees; what lasts too long is a violation. */
  private async settle(): Promise<Violation[]> {
    const lasting = new Lasting();
    const found: Violation[] = [];
    const until = performance.now() + ROUND_MS;
    for (;;) {
      const seen = await this.observer.look();
      const now = differences(seen);
      found.push(...lasting.look(performance.now() / 1000, now));
      const open = this.open(seen);
      if (open.length === 0 && now.length === 0) return found;
      if (performance.now() > until) {
        const lost = open.map((text): Violation => ({ invariant: 'lost', text: `${text} never ends` }));
        return [...found, ...lost];
      }
      await pause(LOOK_MS);
    }
  }

  /** What is not over. What was deleted before it was seen has no row and needs none. */
  private open({ rows, jobs, pods }: Observation): readonly string[] {
    const byUid = new Map(rows.map((row) => [row.uid, row]));
    // What is being deleted is the garbage collector's, which takes its time on a young control plane.
    const staying = [...jobs, ...pods].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const there = new Set(staying.map(({ metadata }) => metadata.uid));
    return [...this.scenario.uids].flatMap((uid) => {
      const row = byUid.get(uid);
      if (row === undefined) return there.has(uid) ? [`${uid} without a row`] : [];
      return row.phase === 'Finished'
        ? []
        : [`${row.name} (${row.phase} ${row.reason ?? ''}: ${row.message ?? ''})`];
    });
  }

  /** What the whole log says at the end. */
  async result(): Promise<MatrixResult> {
    const [events, rows, seen] = [
      await this.observer.events(),
      await this.observer.rows(),
      await this.observer.look(),
    ];
    const { stopped, lostNodes, disturbances } = this.scenario;
    const all = [...disturbances, ...this.faults].sort((a, b) => a - b);
    const deeds = { stopped, lostNodes, disturbances: all, comparable: true };
    const violations = [
      ...this.violations,
      ...doubleGrants(events),
      ...causeless({ ...seen, rows, events }, deeds),
      ...orderFaults(events, rows, deeds),
      ...this.controller.fenced.map(({ message }): Violation => ({ invariant: 'I6', text: message })),
    ];
    return { points: this.points, runs: this.runs, violations, missed: this.missed };
  }

  async stop(): Promise<void> {
    await this.observer.close();
    await this.controller.stop();
  }
}
