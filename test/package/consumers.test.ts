/**
 * A project that installs the package from its tarball and everything else from the registry, as its users do: CommonJS, ts-jest, TypeScript 5, and
 * the oldest Node that cdk8s supports.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDependencies } from '../../package.json';
import { PackedPackage, run } from './packed';

/** The npm packages with Node's binaries are named by platform. */
const NODE_20 = `node-${process.platform}-${process.arch}`;

const PEERS = ['cdk8s', 'cdk8s-plus-28', 'constructs'] as const;

const manifest = (tarball: string) => ({
  name: 'consumer',
  private: true,
  jest: { preset: 'ts-jest', testEnvironment: 'node' },
  devDependencies: {
    ...Object.fromEntries(PEERS.map((name) => [name, devDependencies[name]])),
    '@types/jest': devDependencies['@types/jest'],
    '@types/node': '20.19.9',
    jest: devDependencies.jest,
    'ts-jest': '29.4.15',
    typescript: '5.9.3',
    [NODE_20]: '20.20.2',
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

describe('a project of ts-jest on Node 20', () => {
  let packed: PackedPackage;
  let project: string;
  const node = () => join(project, 'node_modules', NODE_20, 'bin', 'node');
  beforeAll(() => {
    packed = new PackedPackage();
    project = packed.project('consumer');
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest(packed.tarball)));
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(COMPILER));
    writeFileSync(join(project, 'stack.test.ts'), TEST);
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], project);
  }, 300_000);
  afterAll(() => packed.remove());

  test('passes its tests', () => {
    run(node(), [join('node_modules', 'jest', 'bin', 'jest.js'), '--runInBand'], project);
  }, 120_000);

  test('runs the program', () => {
    const program = join('node_modules', 'cdk8s-fluxqueue', 'bin', 'fluxqueue.js');
    expect(run(node(), [program, '--help'], project)).toContain('render');
    expect(() => run(node(), [program, 'controller'], project)).toThrow(
      'FLUXQ_NODE: Node: is too old for the roles of the stack (got "20.20.2"); run them in the image',
    );
  });
});
