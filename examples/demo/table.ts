/** The live table of FluxJobs: redrawn in place on a terminal, else one line per change. */
import { columns } from '../../runtime/columns';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { Recording } from './recording';

const COLUMNS = ['NAME', 'QUEUE', 'PHASE', 'POSITION', 'NODES', 'START', 'WHY'] as const;
/** Lines of the table in a recording. */
const RECORDED_ROWS = 24;
const ORDER = ['Running', 'Ready', 'Waiting', undefined, 'Finished'] as const;

export class LiveTable {
  private drawn = 0;
  private lastLine = '';

  /**
   * @param live redraws in place
   * @param recording gets every frame, whether or not it is drawn
   */
  constructor(
    private readonly out: NodeJS.WriteStream,
    private readonly live: boolean,
    private readonly recording?: Recording,
  ) {}

  show(fluxJobs: readonly FluxJobObject[]): void {
    const counts = countsOf(fluxJobs);
    this.recording?.add([counts, '', ...table(fluxJobs, RECORDED_ROWS, Number.POSITIVE_INFINITY)]);
    if (!this.live) {
      if (counts !== this.lastLine) this.out.write(`${counts}\n`);
      this.lastLine = counts;
      return;
    }
    const capacity = Math.max(5, (this.out.rows ?? 24) - 4);
    const lines = [counts, ...table(fluxJobs, capacity, this.out.columns ?? 100)];
    if (this.drawn > 0) this.out.write(`\u001b[${this.drawn}A\u001b[J`);
    this.out.write(`${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }
}

function countsOf(fluxJobs: readonly FluxJobObject[]): string {
  const counts = Map.groupBy(fluxJobs, ({ status }) => status?.phase);
  const parts = ['Waiting', 'Ready', 'Running', 'Finished'].map(
    (phase) => `${phase.toLowerCase()} ${counts.get(phase as 'Waiting')?.length ?? 0}`,
  );
  return `${fluxJobs.length} FluxJobs: ${parts.join(', ')}`;
}

/** Running FluxJobs first, then waiting ones in queue order, then finished ones. */
function table(fluxJobs: readonly FluxJobObject[], capacity: number, width: number): string[] {
  const sorted = [...fluxJobs].sort(
    (a, b) => rank(a) - rank(b) || (a.status?.position ?? 0) - (b.status?.position ?? 0),
  );
  const rows = [COLUMNS as readonly string[], ...sorted.slice(0, capacity - 2).map(cells)];
  return columns(rows).map((line) => line.slice(0, width).trimEnd());
}

function rank({ status }: FluxJobObject): number {
  return ORDER.indexOf(status?.phase);
}

function cells({ metadata, spec, status }: FluxJobObject): string[] {
  const waits = status?.phase === 'Waiting' || status?.phase === 'Ready';
  const why = waits ? reasonOf(status) : (status?.result ?? '');
  const clock = status?.start?.replace(/\d{4}-\d\d-\d\dT/, '').replace('Z', '') ?? '';
  const { phase = '', position, nodes = '' } = status ?? {};
  return [
    metadata.name,
    spec.queue,
    phase,
    position === undefined ? '' : String(position),
    nodes,
    clock,
    why,
  ];
}

function reasonOf(status: NonNullable<FluxJobObject['status']>): string {
  return status.conditions?.find(({ type }) => type === 'Scheduled')?.message ?? '';
}
