/**
 * `npm run -s bench:baseline -- [--json] [--cpu] [--simulated]`: Kueue's baseline scenario (15,000 workloads, 30 queues in 5 cohorts that lend, take
 * back and preempt) on scheduling passes with the embedded matcher, in real time: what a pass takes, workloads wait longer. With
 * `--cpu` a pass takes the seconds of the processor that this process uses, so a run beside other work can be compared, and with
 * `--simulated` none, which tells what the decisions alone cost. `--cluster [--scale 10]` is the second form: one of ten of the workloads as
 * Jobs that run ten times as long, on a real control plane with the whole stack, its Job controller and nodes of kwok.
 */
import { parseArgs } from 'node:util';
import { type ClusterResult, runOnCluster } from './baseline-cluster';
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

function textOfCluster({ workloads, scale, seconds, evictions, ...result }: ClusterResult): string {
  const { large, medium, small } = result.admissionSeconds;
  return [
    `${workloads} Jobs, each ${scale} times as long, in ${seconds.toFixed(1)} s, ${evictions} evictions`,
    `idle quota: ${result.idleQuotaSeconds.toFixed(2)} s, until what was free was given away: ${result.openQuotaSeconds.toFixed(2)} s`,
    `mean time to admission: large ${large.toFixed(2)} s, medium ${medium.toFixed(2)} s, small ${small.toFixed(2)} s`,
  ].join('\n');
}

async function main(): Promise<void> {
  const options = {
    json: { type: 'boolean' },
    cpu: { type: 'boolean' },
    simulated: { type: 'boolean' },
    cluster: { type: 'boolean' },
    scale: { type: 'string', default: '10' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.cluster === true) {
    const found = await runOnCluster(Number(values.scale));
    process.stdout.write(`${values.json === true ? JSON.stringify(found) : textOfCluster(found)}\n`);
    return;
  }
  const clock = clockOf(values);
  const result = await (await BaselineRun.of(BASELINE, clock)).run();
  process.stdout.write(`${values.json === true ? JSON.stringify(result) : textOf(result)}\n`);
}

void main();
