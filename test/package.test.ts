/** The package as users install it: it is packed, unpacked into a project, and used there. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { render } from '../runtime/cli/render';

const ROOT = join(__dirname, '..');
const MODULES = join(ROOT, 'node_modules');
const SHIPPED = ['LICENSE', 'README.md', 'bin', 'constructs', 'imports', 'runtime', 'package.json'];

/** The packages that a package manager installs beside it. */
const BESIDE = ['cdk8s', 'cdk8s-plus-28', 'constructs', 'yaml', '@types'];

const PROGRAM = `
import { App, Chart } from 'cdk8s';
import { FluxQueue, FluxSetup, MiniCluster, type MiniClusterProps } from 'cdk8s-fluxqueue';

const app = new App({ outdir: 'dist' });
new FluxQueue(app, 'fluxqueue', { kubernetesVersion: '1.37.1' });
const chart = new Chart(app, 'team', { namespace: 'lab' });
new FluxSetup(chart, 'default', { policy: 'conservative' });
const props: MiniClusterProps = { size: 4, container: { image: 'app', command: 'hostname' } };
new MiniCluster(chart, 'hello', props);
app.synth();
`;

/** An app of a user who asked for the validation of his manifests. */
const VALIDATED_PROGRAM = `
const { ApiObject, App, Chart } = require('cdk8s');
const { FluxQueue, FluxSetup } = require('cdk8s-fluxqueue');

const app = new App();
new FluxQueue(app, 'fluxqueue', { images: { registry: 'registry.example.org' } });
const chart = new Chart(app, 'team', { namespace: 'lab' });
new FluxSetup(chart, 'default');
if (process.env.MISTAKE)
  new ApiObject(chart, 'secret', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { a: 'b' } });
app.synth();
`;

const VALIDATED_CONFIG = `language: typescript
app: node validated.js
output: validated
validations:
  - package: ./node_modules/cdk8s-fluxqueue
    version: 0.1.0
    class: FluxQueueValidation
    properties: { skip: ['requests-set:Job/legacy-*'] }
`;

const RESOURCE = `apiVersion: flux-framework.org/v1alpha2
kind: MiniCluster
metadata: { name: hello }
spec: { size: 4, containers: [{ image: app, command: hostname }] }
`;

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-package-'));
  const project = join(folder, 'project');
  const run = (command: string, args: readonly string[], cwd = project) =>
    execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${join(MODULES, '.bin')}:${process.env.PATH}` },
    });

  beforeAll(() => {
    const source = join(folder, 'source');
    for (const name of [...SHIPPED, ...readdirSync(ROOT).filter((file) => file.startsWith('tsconfig'))])
      cpSync(join(ROOT, name), join(source, name), { recursive: true });
    symlinkSync(MODULES, join(source, 'node_modules'));
    const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], source)
      .trim()
      .split('\n')
      .at(-1)!;
    const installed = join(project, 'node_modules', 'cdk8s-fluxqueue');
    mkdirSync(installed, { recursive: true });
    run('tar', ['xzf', join(folder, packed), '--strip-components=1', '-C', installed]);
    for (const name of BESIDE) symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
    writeFileSync(join(project, 'main.ts'), PROGRAM);
    writeFileSync(join(project, 'hello.yaml'), RESOURCE);
    writeFileSync(join(project, 'validated.js'), VALIDATED_PROGRAM);
    writeFileSync(join(project, 'cdk8s.yaml'), VALIDATED_CONFIG);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('type-checks and synthesizes a program with its constructs', () => {
    run('tsc', [
      'main.ts',
      '--ignoreConfig',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--strict',
      '--types',
      'node',
      '--skipLibCheck',
    ]);
    run('node', ['main.js']);
    const written = readdirSync(join(project, 'dist'));
    const text = written.map((file) => readFileSync(join(project, 'dist', file), 'utf8')).join('---\n');
    for (const kind of ['CustomResourceDefinition', 'Deployment', 'FluxSetup', 'Job'])
      expect(text).toContain(`kind: ${kind}\n`);
  });

  test('validates the manifests of an app in cdk8s synth', () => {
    const synth = (env: Record<string, string> = {}) =>
      spawnSync('cdk8s', ['synth', '--check-upgrade=false'], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, ...env, PATH: `${join(MODULES, '.bin')}:${process.env.PATH}` },
      });
    const valid = synth();
    expect([valid.status, valid.stdout]).toEqual([0, expect.stringContaining('success')]);
    const invalid = synth({ MISTAKE: '1' });
    expect(invalid.status).toBe(2);
    expect(invalid.stdout).toContain('no-plaintext-secret');
    expect(invalid.stdout).toContain('Construct Path: team/secret');
    expect(invalid.stdout).toContain('Secret stringData.a: is a plain text');
  });

  test('contains its Containerfiles and the bundle that they build from', () => {
    const installed = join(project, 'node_modules', 'cdk8s-fluxqueue');
    for (const file of ['runtime/Containerfile', 'runtime/fluxion/Containerfile'])
      expect(readFileSync(join(installed, file), 'utf8')).toContain('lib/runtime.js');
    expect(existsSync(join(installed, 'lib', 'runtime.js'))).toBe(true);
  });

  test('renders with its program as from source', () => {
    const printed = run('node', [
      join('node_modules', 'cdk8s-fluxqueue', 'bin', 'fluxqueue.js'),
      'render',
      'hello.yaml',
    ]);
    expect(printed).toBe(render({ text: RESOURCE, source: 'hello.yaml' }).yaml);
  });
});
