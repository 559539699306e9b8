/**
 * Projects that install the package from its tarball and everything else from the registry, as its users do: with npm, CommonJS, ts-jest,
 * TypeScript 5 and the oldest Node that cdk8s supports; with pnpm and Node 22; with Yarn and its Plug'n'Play.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDependencies } from '../../package.json';
import { PackedPackage, run } from './packed';

/** The npm packages with Node's binaries are named by platform. */
const NODE = `node-${process.platform}-${process.arch}`;
const NODE_IN = join('node_modules', NODE, 'bin', 'node');

const PEERS = ['cdk8s', 'cdk8s-plus-28', 'constructs'] as const;

const peers = Object.fromEntries(PEERS.map((name) => [name, devDependencies[name]]));

const manifest = (tarball: string) => ({
  name: 'consumer',
  private: true,
  jest: { preset: 'ts-jest', testEnvironment: 'node' },
  devDependencies: {
    ...peers,
    '@types/jest': devDependencies['@types/jest'],
    '@types/node': '20.19.9',
    jest: devDependencies.jest,
    'ts-jest': '29.4.15',
    typescript: '5.9.3',
    [NODE]: '20.20.2',
    'cdk8s-fluxqueue': `file:${tarball}`,
  },
});

const COMPILER = {
  compilerOptions: {
    target: 'ES2022',
    module: 'commonjs',
    strict: true,
    esModuleInterop: true,
    types: ['node', 'jest'],
  },
};

const TEST = `
import { App, Chart, Testing } from 'cdk8s';
import { FluxQueue, FluxSetup, MiniCluster } from 'cdk8s-fluxqueue';

test('a MiniCluster and its queue', () => {
  expect(process.version).toMatch(/^v20\\./);
  const chart = Testing.chart();
  new FluxSetup(chart, 'default', { policy: 'hybrid' });
  new MiniCluster(chart, 'hello', { size: 2, container: { image: 'app', command: 'hostname' } });
  expect(Testing.synth(chart).map(({ kind }) => kind)).toContain('Job');
});

test('the stack', () => {
  const app = new App();
  new FluxQueue(app, 'fluxqueue');
  expect(app.charts.flatMap((chart: Chart) => chart.toJson()).length).toBeGreaterThan(20);
});
`;

let packed: PackedPackage;
beforeAll(() => {
  packed = new PackedPackage();
});
afterAll(() => packed.remove());

describe('a project of ts-jest on Node 20', () => {
  let project: string;
  const node = () => join(project, NODE_IN);
  beforeAll(() => {
    project = packed.project('consumer');
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest(packed.tarball)));
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(COMPILER));
    writeFileSync(join(project, 'stack.test.ts'), TEST);
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], project);
  });

  test('passes its tests', () => {
    run(node(), [join('node_modules', 'jest', 'bin', 'jest.js'), '--runInBand'], project);
  });

  test('runs the program', () => {
    const program = join('node_modules', 'cdk8s-fluxqueue', 'bin', 'fluxqueue.js');
    expect(run(node(), [program, '--help'], project)).toContain('render');
    expect(() => run(node(), [program, 'controller'], project)).toThrow(
      'FLUXQ_NODE: Node: is too old for the roles of the stack (got "20.20.2"); run them in the image',
    );
  });
});

const PROGRAM = `
const { App } = require('cdk8s');
const { FluxQueue } = require('cdk8s-fluxqueue');

const app = new App({ outdir: 'dist' });
new FluxQueue(app, 'fluxqueue', { kubernetesVersion: '1.37.1' });
app.synth();
console.log(process.version);
`;

describe('a project of another package manager', () => {
  let tools: string;
  beforeAll(() => {
    tools = packed.project('tools');
    const devDependencies = { pnpm: '12.21.0', '@yarnpkg/cli-dist': '4.18.1' };
    writeFileSync(join(tools, 'package.json'), JSON.stringify({ private: true, devDependencies }));
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], tools);
  });

  /** A project with nothing but the package, its peers, and what is named. */
  function project(name: string, more: Record<string, string> = {}): string {
    const path = packed.project(name);
    const dependencies = { ...peers, ...more, 'cdk8s-fluxqueue': `file:${packed.tarball}` };
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name, private: true, dependencies }));
    writeFileSync(join(path, 'main.js'), PROGRAM);
    return path;
  }

  /** The program wrote the files of the stack, down to the last one. */
  function expectManifests(path: string): void {
    expect(readdirSync(join(path, 'dist'))).toContain('fluxqueue-6-admission.k8s.yaml');
  }

  test('pnpm, on Node 22', () => {
    const path = project('pnpm', { [NODE]: '22.23.3' });
    const pnpm = join(tools, 'node_modules', '.bin', 'pnpm');
    run(pnpm, ['install'], path);
    expect(run(join(path, NODE_IN), ['main.js'], path)).toMatch(/^v22\./);
    expectManifests(path);
    expect(run(pnpm, ['exec', 'fluxqueue', '--help'], path)).toContain('render');
  });

  test("Yarn with Plug'n'Play", () => {
    const path = project('yarn');
    writeFileSync(join(path, 'yarn.lock'), '');
    const yarn = (...args: string[]) =>
      run(
        process.execPath,
        [join(tools, 'node_modules', '@yarnpkg', 'cli-dist', 'bin', 'yarn.js'), ...args],
        path,
      );
    yarn('install', '--no-immutable');
    expect(existsSync(join(path, 'node_modules'))).toBe(false);
    yarn('node', 'main.js');
    expectManifests(path);
    expect(yarn('fluxqueue', '--help')).toContain('render');
  });
});
