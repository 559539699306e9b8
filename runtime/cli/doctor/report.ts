/** The findings as a table, and the verdict. */
import { columns, plain } from '../../columns';
import { FluxqError } from '../../errors';
import type { ReportedFinding } from './doctor';
import { counted, type Level } from './finding';

const REMEDY = '         -> ';

/** One line for each finding; below it, indented, what to do. */
export function tableLines(findings: readonly ReportedFinding[]): readonly string[] {
  const rows = findings.map(({ level, check, message }) => [level, check, plain(message)]);
  const [head = '', ...lines] = columns([['RESULT', 'CHECK', 'FINDING'], ...rows]);
  return [
    head,
    ...lines.flatMap((line, i) => {
      const { remedy } = findings[i]!;
      return remedy === undefined ? [line] : [line, `${REMEDY}${plain(remedy)}`];
    }),
  ];
}

/** @throws FluxqError FLUXQ_UNHEALTHY if one finding is an error */
export function requireHealthy(findings: readonly ReportedFinding[]): void {
  const count = (wanted: Level) => findings.filter(({ level }) => level === wanted).length;
  const errors = count('error');
  if (errors === 0) return;
  throw new FluxqError(
    'FLUXQ_UNHEALTHY',
    `the stack has ${counted(errors, 'error')} and ${counted(count('warning'), 'warning')}`,
    { remedy: 'do what the report says below each of them' },
  );
}
