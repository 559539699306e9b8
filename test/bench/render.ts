/**
 * What rendering costs: N MiniClusters in one chart, from props to YAML, beside
 * printing the YAML of the very same objects, which nobody can leave out.
 * CPU time, every measurement in a process of its own, in turn.
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

/** Both sides start with their code compiled: else a first run's price would count for one of them. */
const WARM_UP = 200;

/** CPU milliseconds of what `work` does. */
function cpu(work: () => unknown): number {
  Yaml.stringify(...chartOf(WARM_UP).toJson());
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const MEASURES: Readonly<Record<string, (count: number) => number>> = {
  render: (count) => cpu(() => Yaml.stringify(...chartOf(count).toJson())),
  print: (count) => {
    const objects = chartOf(count).toJson();
    return cpu(() => Yaml.stringify(...objects));
  },
};

function measured(name: string, count: number): number {
  const args = ['--import', 'tsx', __filename, '--measure', name, '--clusters', String(count)];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function compare(count: number, pairs: number) {
  const runs = Array.from({ length: pairs }, () => ({
    render: measured('render', count),
    print: measured('print', count),
    double: measured('render', 2 * count),
  }));
  const of = (value: (run: (typeof runs)[number]) => number) =>
    Math.round(median(runs.map(value)) * 100) / 100;
  return {
    clusters: count,
    objects: chartOf(count).toJson().length,
    renderCpuMs: of(({ render }) => render),
    printCpuMs: of(({ print }) => print),
    ratio: of(({ render, print }) => render / print),
    doubleCpuMs: of(({ double }) => double),
    doubleRatio: of(({ render, double }) => double / render),
  };
}

function main(): void {
  const program = new Command()
    .option('--clusters <n>', 'how many', '1000')
    .option('--pairs <n>', 'how often, in turn', '5')
    .option('--json', 'figures as JSON')
    .option('--measure <name>', 'one measurement in this process')
    .parse();
  const { clusters, pairs, json, measure } = program.opts<Options>();
  if (measure !== undefined) {
    process.stdout.write(String(MEASURES[measure]!(Number(clusters))));
    return;
  }
  const figures = compare(Number(clusters), Number(pairs));
  if (json === true) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else
    for (const [name, value] of Object.entries(figures))
      process.stdout.write(`${name.padEnd(14)} ${value}\n`);
}

main();
