/**
 * What rendering costs: N MiniClusters in one chart, from props to YAML, and how
 * much of it is printing the YAML of those very objects, which nobody can leave out.
 * CPU time of both in one process; every measurement has a new one, after 200 other
 * clusters, and beside that cold and after as many others: V8 compiles only once.
 *
 *   npm run -s bench:render -- --json
 */
import { execFileSync } from 'node:child_process';
import { App, Chart, Size, Yaml } from 'cdk8s';
import { Command } from 'commander';
import { MiniCluster } from '../../constructs/minicluster';
import { median } from './statistics';

interface Options {
  readonly clusters: string;
  readonly pairs: string;
  readonly json?: boolean;
  readonly measure?: string;
}

/** A cluster as people write it; no two are alike. */
function addCluster(chart: Chart, index: number): void {
  new MiniCluster(chart, `lammps-${index}`, {
    size: 4 + (index % 13),
    tasks: 32,
    queue: 'batch',
    container: {
      image: 'ghcr.io/converged-computing/metric-lammps:latest',
      workingDir: '/opt/lammps/examples/reaxff/HNS',
      command: `lmp -v x ${index} -v y 2 -v z 2 -in in.reaxc.hns -nocite`,
      environment: { OMP_NUM_THREADS: '1', RUN: String(index) },
      cpu: 4,
      memory: Size.gibibytes(16),
      pre: 'ulimit -l unlimited',
    },
  });
}

function chartOf(count: number): Chart {
  const chart = new Chart(new App(), 'fleet', { namespace: 'lab' });
  for (let index = 0; index < count; index++) addCluster(chart, index);
  return chart;
}

/** CPU milliseconds since the process began. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const WARM_UP = 200;

interface Measured {
  /** From props to YAML. */
  readonly render: number;
  /** From objects to YAML, the last part of it. */
  readonly print: number;
}

function measure(count: number, before: number): Measured {
  Yaml.stringify(...chartOf(before).toJson());
  const began = cpu();
  const objects = chartOf(count).toJson();
  const made = cpu();
  Yaml.stringify(...objects);
  const printed = cpu();
  return { render: printed - began, print: printed - made };
}

/** @param before rendered and printed first */
function measured(count: number, before: number): Measured {
  const args = ['--import', 'tsx', __filename, '--measure', String(before), '--clusters', String(count)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Measured;
}

function compare(count: number, pairs: number) {
  const runs = Array.from({ length: pairs }, () => ({
    cold: measured(count, 0),
    once: measured(count, WARM_UP),
    twice: measured(2 * count, WARM_UP),
    warm: measured(count, count),
  }));
  const of = (value: (run: (typeof runs)[number]) => number) =>
    Math.round(median(runs.map(value)) * 100) / 100;
  return {
    clusters: count,
    objects: chartOf(count).toJson().length,
    renderCpuMs: of(({ once }) => once.render),
    printCpuMs: of(({ once }) => once.print),
    ratio: of(({ once }) => once.render / once.print),
    warmRatio: of(({ warm }) => warm.render / warm.print),
    coldRatio: of(({ cold }) => cold.render / cold.print),
    doubleCpuMs: of(({ twice }) => twice.render),
    doubleRatio: of(({ once, twice }) => twice.render / once.render),
  };
}

function main(): void {
  const program = new Command()
    .option('--clusters <n>', 'how many', '1000')
    .option('--pairs <n>', 'how often, in turn', '5')
    .option('--json', 'figures as JSON')
    .option('--measure <n>', 'one measurement, in this process, after so many others')
    .parse();
  const { clusters, pairs, json, measure: before } = program.opts<Options>();
  if (before !== undefined) {
    process.stdout.write(JSON.stringify(measure(Number(clusters), Number(before))));
    return;
  }
  const figures = compare(Number(clusters), Number(pairs));
  if (json === true) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else
    for (const [name, value] of Object.entries(figures))
      process.stdout.write(`${name.padEnd(14)} ${value}\n`);
}

main();
