/**
 * Measures rendering: the CPU time of N MiniClusters in one chart from props to YAML, compared with the part that only
 * prints the YAML of the same objects. It uses the compiled package, as users install it. Each measurement has its own
 * process: cold, as in `cdk8s synth`, after 200 other clusters, and after N other clusters, because V8 compiles code once.
 *
 *   npm run -s bench:render -- --json
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, Size, Yaml } from 'cdk8s';
import { Command } from 'commander';
import { median } from './statistics';

const ROOT = join(__dirname, '..', '..');
const MODULES = join(ROOT, 'node_modules');

type Package = typeof import('../../constructs');

interface Options {
  readonly clusters: string;
  readonly pairs: string;
  readonly json?: boolean;
  readonly measure?: string;
  readonly package: string;
}

/** A typical cluster; all clusters are different. */
function addCluster({ MiniCluster }: Package, chart: Chart, index: number): void {
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

function chartOf(used: Package, count: number): Chart {
  const chart = new Chart(new App(), 'fleet', { namespace: 'lab' });
  for (let index = 0; index < count; index++) addCluster(used, chart, index);
  return chart;
}

/** Compiles the package into a folder, with links to the modules that it needs and copies of the scripts that it reads. */
function compile(folder: string): void {
  symlinkSync(MODULES, join(folder, 'node_modules'));
  const args = ['-p', join(ROOT, 'tsconfig.package.json'), '--outDir', folder];
  execFileSync(join(MODULES, '.bin', 'tsc'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  for (const script of globSync('constructs/fluxqueue/*.sh', { cwd: ROOT }))
    copyFileSync(join(ROOT, script), join(folder, script));
}

/** CPU milliseconds since the start of the process. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const WARM_UP = 200;

interface Measured {
  readonly objects: number;
  /** CPU milliseconds from props to YAML. */
  readonly render: number;
  /** CPU milliseconds from objects to YAML, which is a part of it. */
  readonly print: number;
}

function measure(used: Package, count: number, before: number): Measured {
  Yaml.stringify(...chartOf(used, before).toJson());
  const began = cpu();
  const objects = chartOf(used, count).toJson();
  const made = cpu();
  Yaml.stringify(...objects);
  const printed = cpu();
  return { objects: objects.length, render: printed - began, print: printed - made };
}

function compare(folder: string, count: number, pairs: number) {
  /** @param before number of clusters that are rendered first */
  const measured = (clusters: number, before: number) => {
    const args = ['--measure', String(before), '--clusters', String(clusters), '--package', folder];
    const output = execFileSync(process.execPath, ['--import', 'tsx', __filename, ...args], {
      encoding: 'utf8',
    });
    return JSON.parse(output) as Measured;
  };
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
    objects: of(({ once }) => once.objects),
    renderCpuMs: of(({ once }) => once.render),
    printCpuMs: of(({ once }) => once.print),
    coldRatio: of(({ cold }) => cold.render / cold.print),
    ratio: of(({ once }) => once.render / once.print),
    warmRatio: of(({ warm }) => warm.render / warm.print),
    doubleCpuMs: of(({ twice }) => twice.render),
    doubleRatio: of(({ once, twice }) => twice.render / once.render),
  };
}

function main(): void {
  const program = new Command()
    .option('--clusters <n>', 'number of MiniClusters', '1000')
    .option('--pairs <n>', 'number of repetitions', '5')
    .option('--json', 'print the figures as JSON')
    .option('--measure <n>', 'make one measurement in this process, after this number of other clusters')
    .option('--package <folder>', 'folder of the compiled package, for --measure', '')
    .parse();
  const { clusters, pairs, json, measure: before, package: folder } = program.opts<Options>();
  if (before !== undefined) {
    const used = require(join(folder, 'constructs')) as Package;
    process.stdout.write(JSON.stringify(measure(used, Number(clusters), Number(before))));
    return;
  }
  const compiled = mkdtempSync(join(tmpdir(), 'fluxqueue-render-'));
  try {
    compile(compiled);
    const figures = compare(compiled, Number(clusters), Number(pairs));
    if (json === true) process.stdout.write(`${JSON.stringify(figures)}\n`);
    else
      for (const [name, value] of Object.entries(figures))
        process.stdout.write(`${name.padEnd(14)} ${value}\n`);
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

main();
