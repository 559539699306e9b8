/**
 * The Standard Workload Format of the Parallel Workloads Archive: one line per job with 18 numbers, -1 for unknown ones.
 * Lines that begin with `;` are comments.
 */
import { FluxqError } from '../errors';

/** The simulated fields of a line. Times are in seconds. */
export interface TraceJob {
  /** Number of the job in the trace. */
  readonly number: number;
  readonly submittedAt: number;
  readonly runtime: number;
  readonly processors: number;
  readonly walltime: number;
}

export interface Trace {
  /** Jobs in order of submission. */
  readonly jobs: readonly TraceJob[];
  /** Number of jobs with unknown runtime or width: most of them never started. */
  readonly unknown: number;
}

const FIELDS = 18;
/** Indices of the fields in a line. */
const NUMBER = 0;
const SUBMITTED = 1;
const RUNTIME = 3;
const ALLOCATED = 4;
const REQUESTED = 7;
const REQUESTED_TIME = 8;

/**
 * @param source name of the trace, for errors
 * @throws FluxqError FLUXQ_TRACE_INVALID
 */
export function parseSwf(text: string, source: string): Trace {
  const jobs: TraceJob[] = [];
  let unknown = 0;
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith(';')) continue;
    const job = jobOf(fieldsOf(trimmed, `${source}:${i + 1}`));
    if (job === undefined) unknown += 1;
    else jobs.push(job);
  }
  // All but a few lines of the archives are in this order.
  jobs.sort((a, b) => a.submittedAt - b.submittedAt || a.number - b.number);
  return { jobs, unknown };
}

function fieldsOf(line: string, place: string): number[] {
  const words = line.split(/\s+/);
  const invalid = (message: string, value: unknown) =>
    new FluxqError('FLUXQ_TRACE_INVALID', message, {
      field: place,
      value,
      remedy: 'give a trace in Standard Workload Format, plain or gzip',
    });
  if (words.length !== FIELDS)
    throw invalid(`has ${words.length} fields, but a job has ${FIELDS}`, line.slice(0, 80));
  const fields = words.map(Number);
  const wrong = fields.findIndex((field) => !Number.isFinite(field));
  if (wrong >= 0) throw invalid(`field ${wrong + 1} is not a number`, words[wrong]);
  if (fields[SUBMITTED]! < 0) throw invalid('field 2, the time of submission, is unknown', fields[SUBMITTED]);
  return fields;
}

/**
 * The walltime is the requested time, or the runtime if the user requested none. Walltimes are enforced: no job runs
 * longer.
 */
function jobOf(fields: readonly number[]): TraceJob | undefined {
  const processors = fields[REQUESTED]! > 0 ? fields[REQUESTED]! : fields[ALLOCATED]!;
  const ran = fields[RUNTIME]!;
  if (processors <= 0 || ran < 0) return undefined;
  const wanted = fields[REQUESTED_TIME]!;
  const walltime = Math.max(1, Math.ceil(wanted > 0 ? wanted : ran));
  return {
    number: fields[NUMBER]!,
    submittedAt: Math.floor(fields[SUBMITTED]!),
    runtime: Math.min(walltime, Math.max(1, Math.ceil(ran))),
    processors: Math.ceil(processors),
    walltime,
  };
}
