/**
 * `npm run -s bench:baseline -- [--json] [--cpu] [--simulated]`: Kueue's baseline scenario (15,000 workloads, 30 queues in 5 cohorts that lend, take
 * back and preempt) on scheduling passes with the embedded matcher, in real time: what a pass takes, workloads wait longer. With
 * `--cpu` a pass takes the seconds of the processor that this process uses, so a run beside other work can be compared, and with
 * `--simulated` none, which tells what the decisions alone cost.
 */
import { parseArgs } from 'node:util';
import { BASELINE, type BaselineClock, type BaselineResult, BaselineRun } from './baseline-run';
import { jumpingClock } from './jumping-clock';

function clockOfTheWall(): BaselineClock {
  const start = performance.now();
  const now = () => (performance.now() - start) / 1000;
  return {
    now,
    until: (seconds) => new Promise((resolve) => setTimeout(resolve, Math.max(0, seconds - now()) * 1000)),
  };
}

/** Seconds of the processor since this call. */
function processorTime(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
}

function clockOf({
  cpu,
  simulated,
}: {
  readonly cpu?: boolean;
  readonly simulated?: boolean;
}): BaselineClock {
  if (simulated === true) return jumpingClock();
  return cpu === true ? jumpingClock(processorTime()) : clockOfTheWall();
}

function textOf(result: BaselineResult): string {
  const { workloads, seconds, evictions, passes, admissionSeconds } = result;
  const { large, medium, small } = admissionSeconds;
  return [
    `${workloads} workloads in ${seconds.toFixed(1)} s, ${passes} passes, ${evictions} evictions`,
    `idle quota: ${result.idleQuotaSeconds.toFixed(2)} s, kept for reservations: ${result.keptQuotaSeconds.toFixed(2)} s`,
    `mean time to admission: large ${large.toFixed(2)} s, medium ${medium.toFixed(2)} s, small ${small.toFixed(2)} s`,
  ].join('\n');
}

async function main(): Promise<void> {
  const options = {
    json: { type: 'boolean' },
    cpu: { type: 'boolean' },
    simulated: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ options });
  const clock = clockOf(values);
  const result = await (await BaselineRun.of(BASELINE, clock)).run();
  process.stdout.write(`${values.json === true ? JSON.stringify(result) : textOf(result)}\n`);
}

void main();
