/**
 * The Standard Workload Format of the Parallel Workloads Archive: one line per job with 18 numbers, -1 for unknown ones.
 * Lines that begin with `;` are comments; some of them tell the size of the machine and the names of queues.
 */
import { FluxqError } from '../errors';

/** The simulated fields of a line. Times are in seconds. */
export interface TraceJob {
  /** Number of the job in the trace. */
  readonly number: number;
  readonly submittedAt: number;
  /** How long it waited on the machine of the trace. @default - unknown */
  readonly waited?: number;
  readonly runtime: number;
  readonly processors: number;
  readonly walltime: number;
  /** The number of its user. */
  readonly user: string;
  /** The name of its queue, or its number where the trace does not name it. */
  readonly queue: string;
}

export interface Trace {
  /** Jobs in order of submission. */
  readonly jobs: readonly TraceJob[];
  /** Number of jobs with unknown runtime or width: most of them never started. */
  readonly unknown: number;
  /** The queues of the jobs: their numbers in the trace, and their names. */
  readonly queues: readonly TraceQueue[];
  /** Number of nodes and processors that a comment tells. @default - unknown */
  readonly maxNodes?: number;
  readonly maxProcessors?: number;
}

interface TraceQueue {
  readonly number: number;
  readonly name: string;
}

const FIELDS = 18;
/** Indices of the fields in a line. */
const NUMBER = 0;
const SUBMITTED = 1;
const WAITED = 2;
const RUNTIME = 3;
const ALLOCATED = 4;
const REQUESTED = 7;
const REQUESTED_TIME = 8;
const USER = 11;
const QUEUE = 14;

/**
 * @param source name of the trace, for errors
 * @throws FluxqError FLUXQ_TRACE_INVALID
 */
export function parseSwf(text: string, source: string): Trace {
  const lines = text.split('\n').map((line) => line.trim());
  const header = headerOf(lines.filter((line) => line.startsWith(';')));
  const jobs: TraceJob[] = [];
  const queues = new Map<number, string>();
  let unknown = 0;
  for (const [i, line] of lines.entries()) {
    if (line === '' || line.startsWith(';')) continue;
    const fields = fieldsOf(line, `${source}:${i + 1}`);
    const queue = header.queues.get(fields[QUEUE]!) ?? `${fields[QUEUE]}`;
    const job = jobOf(fields, queue);
    if (job === undefined) unknown += 1;
    else {
      jobs.push(job);
      queues.set(fields[QUEUE]!, queue);
    }
  }
  // All but a few lines of the archives are in this order.
  jobs.sort((a, b) => a.submittedAt - b.submittedAt || a.number - b.number);
  const { maxNodes, maxProcessors } = header;
  return {
    jobs,
    unknown,
    queues: [...queues].sort(([a], [b]) => a - b).map(([number, name]) => ({ number, name })),
    ...(maxNodes !== undefined && { maxNodes }),
    ...(maxProcessors !== undefined && { maxProcessors }),
  };
}

/** Names end at the first space: in the archives a description follows. A name that two queues have is no name. */
function headerOf(comments: readonly string[]) {
  const numberIn = (pattern: RegExp) => {
    const value = Number(
      comments.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined),
    );
    return value >= 1 ? value : undefined;
  };
  const named = comments.flatMap((line): [number, string][] => {
    const [, number, name] = /^; *Queue: *(\d+)[ :]+([^\s;,]+)/.exec(line) ?? [];
    return name === undefined ? [] : [[Number(number), name]];
  });
  const isUnique = (name: string) => named.filter(([, other]) => other === name).length === 1;
  return {
    maxNodes: numberIn(/^; *MaxNodes: *(\d+)/),
    maxProcessors: numberIn(/^; *MaxProcs: *(\d+)/),
    queues: new Map(named.filter(([, name]) => isUnique(name))),
  };
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
function jobOf(fields: readonly number[], queue: string): TraceJob | undefined {
  const processors = fields[REQUESTED]! > 0 ? fields[REQUESTED]! : fields[ALLOCATED]!;
  const ran = fields[RUNTIME]!;
  if (processors <= 0 || ran < 0) return undefined;
  const wanted = fields[REQUESTED_TIME]!;
  const walltime = Math.max(1, Math.ceil(wanted > 0 ? wanted : ran));
  const waited = fields[WAITED]!;
  return {
    number: fields[NUMBER]!,
    submittedAt: Math.floor(fields[SUBMITTED]!),
    ...(waited >= 0 && { waited }),
    runtime: Math.min(walltime, Math.max(1, Math.ceil(ran))),
    processors: Math.ceil(processors),
    walltime,
    user: `${fields[USER]}`,
    queue,
  };
}
