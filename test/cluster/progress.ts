import { BUILT } from './build';

/** Milliseconds between two lines in a log file. */
const PLAIN_INTERVAL = 10_000;

/** Writes progress to stderr: one updated line on a terminal, else a line every 10 s. */
export function stderrProgress(): (line: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  let lastKind = '';
  return (line) => {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\u001b[K${line}`);
      if (isLast(line)) process.stderr.write('\n');
      return;
    }
    const kind = line.replace(/[\d.:].*/, '');
    if (kind === lastKind && performance.now() - last < PLAIN_INTERVAL && !isLast(line)) return;
    last = performance.now();
    lastKind = kind;
    process.stderr.write(`${line}\n`);
  };
}

const isLast = (line: string): boolean => line.includes(`: ${BUILT}`);
