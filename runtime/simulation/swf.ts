/**
 * The Standard Workload Format of the Parallel Workloads Archive: a line per
 * job, 18 numbers, -1 for what is unknown; lines that begin with `;` are
 * comments.
 */
import { FluxqError } from '../errors';

/** What of a line is simulated. Times in seconds. */
export interface TraceJob {
  /** As the trace numbers it. */
  readonly number: number;
  readonly submittedAt: number;
  readonly runtime: number;
  readonly processors: number;
  readonly walltime: number;
}

export interface Trace {
  /** In order of submission. */
  readonly jobs: readonly TraceJob[];
  /** Jobs of which the trace does not know how long they ran or how wide they were: most never started. */
  readonly unknown: number;
}

const FIELDS = 18;
/** Places of the fields in a line. */
const NUMBER = 0;
const SUBMITTED = 1;
const RUNTIME = 3;
const ALLOCATED = 4;
const REQUESTED = 7;
const REQUESTED_TIME = 8;

/**
 * @param source named in errors
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
  // Archives are in this order, all but a few lines.
  jobs.sort((a, b) => a.submittedAt - b.submittedAt || a.number - b.number);
  return { jobs, unknown };
}

function fieldsOf(line: string, place: string): number[] {
  const words = line.split(/\s+/);
  const invalid = (what: string, value: unknown) =>
    new FluxqError('FLUXQ_TRACE_INVALID', what, {
      field: place,
      value,
      remedy: 'give a trace in Standard Workload Format, plain or gzip',
    });
  if (words.length !== FIELDS)
    throw invalid(`has ${words.length} fields where a job has ${FIELDS}`, line.slice(0, 80));
  const fields = words.map(Number);
  const wrong = fields.findIndex((field) => !Number.isFinite(field));
  if (wrong >= 0) throw invalid(`field ${wrong + 1} is not a number`, words[wrong]);
  if (fields[SUBMITTED]! < 0) throw invalid('field 2, the time of submission, is unknown', fields[SUBMITTED]);
  return fields;
}

/** The walltime is the requested time; a user who gave none is taken to have known. Walltimes are enforced: nothing runs longer. */
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
