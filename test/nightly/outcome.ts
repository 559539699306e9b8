/** What a part of a nightly run found, from its exit code and output. */
export interface Outcome {
  readonly ok: boolean;
  /** Why the part did not run on this machine. */
  readonly skipped?: string;
  /** The line of JSON that the part printed. */
  readonly figures?: unknown;
}

interface Ended {
  /** Null after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The figures of Jest that say something about a run. */
interface JestFigures {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

const SKIPPED = /^skipped: (.+)$/m;

export function outcomeOf({ code, stdout, stderr }: Ended): Outcome {
  const figures = summaryOf(lastJson(stdout));
  const why = figures === undefined ? SKIPPED.exec(stderr)?.[1] : skippedIn(figures);
  if (code === 0 && why !== undefined) return { ok: true, skipped: why };
  // A part that ends well and says nothing has tested nothing.
  return { ok: code === 0 && figures !== undefined, figures };
}

function lastJson(stdout: string): unknown {
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  return /^[[{]/.test(line) ? JSON.parse(line) : undefined;
}

function skippedIn(figures: unknown): string | undefined {
  return (figures as { skipped?: string }).skipped;
}

/** Jest's own report has a line for every test. */
function summaryOf(figures: unknown): unknown {
  const {
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: pending,
  } = (figures ?? {}) as Partial<JestFigures>;
  if (passed === undefined) return figures;
  if (passed + (failed ?? 0) === 0)
    return { skipped: `none of its ${pending} tests can run on this machine` };
  return { passed, failed, pending };
}
