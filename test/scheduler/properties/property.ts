/**
 * A property of scheduling and how many random cases of it are run. They run in a process of their own: under Jest, whose
 * sandbox makes every global slow, each case takes two to three times as long.
 */
import fc, { cases } from '../../fast-check';

export interface Property {
  readonly name: string;
  /** How many cases are run; `PROPERTY_FACTOR` multiplies them. */
  readonly runs: number;
  /** Whether a case that fails is made smaller: for a long trace that takes an hour. @default true */
  readonly shrinks?: boolean;
  readonly check: { readonly property: fc.IRawProperty<unknown> };
  /** How often the cases met what the property is about: without that they show nothing. */
  readonly met: () => Readonly<Record<string, number>>;
}

export interface Report {
  readonly property: string;
  readonly cases: number;
  readonly cpuSeconds: number;
  readonly met: Readonly<Record<string, number>>;
  /** Why it failed, with the seed and the smallest case. @default - it holds */
  readonly failure?: string;
}

/** Throws if the two texts differ. */
export function holds(isTrue: boolean, say: () => string): void {
  if (!isTrue) throw new Error(say());
}

export function holdsNone(violations: readonly string[]): void {
  holds(violations.length === 0, () => violations.join('; '));
}

export async function run({ name, runs, shrinks = true, check, met }: Property): Promise<Report> {
  const { numRuns } = cases(runs);
  const from = process.cpuUsage();
  const outcome = await fc.check(check.property, { numRuns, endOnFailure: !shrinks });
  const { user } = process.cpuUsage(from);
  const report = { property: name, cases: outcome.numRuns, cpuSeconds: user / 1e6, met: met() };
  const unmet = Object.entries(report.met).filter(([, count]) => count * 100 < numRuns);
  if (outcome.failed)
    return { ...report, failure: `${outcome.errorInstance}\n${fc.defaultReportMessage(outcome)}` };
  if (unmet.length === 0) return report;
  return {
    ...report,
    failure: `fewer than one in a hundred cases met: ${unmet.map(([key]) => key).join(', ')}`,
  };
}
