/** The package as users install it: it is packed, unpacked into a project, and used there. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json';
import { render } from '../../runtime/cli/render';
import { MODULES, PackedPackage, run } from './packed';

/** The packages that a package manager installs beside it. */
const PEERS = ['cdk8s', 'cdk8s-plus-28', 'constructs'];

const PROGRAM = `
import { App, Chart } from 'cdk8s';
import { FluxQueue, FluxSetup, MiniCluster, type MiniClusterProps } from 'cdk8s-fluxqueue';

const app = new App({ outdir: 'dist' });
new FluxQueue(app, 'fluxqueue', { kubernetesVersion: '1.37.1', scheduler: true });
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

const KINDS = ['CustomResourceDefinition', 'Deployment', 'FluxSetup', 'Job'];

function synthesized(project: string): string {
  const dist = join(project, 'dist');
  return readdirSync(dist)
    .map((file) => readFileSync(join(dist, file), 'utf8'))
    .join('---\n');
}

describe('the package', () => {
  let packed: PackedPackage;
  let project: string;
  let installed: string;
  beforeAll(() => {
    packed = new PackedPackage();
    project = packed.project('project');
    installed = packed.unpackInto(project, [...PEERS, '@types']);
  });
  afterAll(() => packed.remove());

  test('needs no package beside its peers, and takes less than 8.5 MB', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ peerDependenciesMeta: { koffi: { optional: true } } });
    for (const field of ['dependencies', 'devDependencies', 'scripts', 'private'])
      expect(manifest).not.toHaveProperty(field);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const bytes = files.reduce((sum, file) => sum + statSync(join(installed, file)).size, 0);
    expect(bytes).toBeLessThan(8.5e6);
  });

  test('type-checks and synthesizes a CommonJS program with its constructs', () => {
    writeFileSync(join(project, 'main.ts'), PROGRAM);
    run(
      'tsc',
      [
        ...['main.ts', '--ignoreConfig', '--module', 'nodenext', '--target', 'es2022'],
        ...['--strict', '--types', 'node', '--skipLibCheck'],
      ],
      project,
    );
    run('node', ['main.js'], project);
    const text = synthesized(project);
    for (const kind of KINDS) expect(text).toContain(`kind: ${kind}\n`);
  });

  test('gives a program of ES modules the same manifests', () => {
    const modules = packed.project('modules');
    packed.unpackInto(modules, PEERS);
    writeFileSync(
      join(modules, 'main.mjs'),
      PROGRAM.replace(', type MiniClusterProps', '').replace(': MiniClusterProps', ''),
    );
    run('node', ['main.mjs'], modules);
    expect(synthesized(modules)).toBe(synthesized(project));
  });

  test('`cdk8s import` makes classes of its CRDs', () => {
    const crds = join('node_modules', 'cdk8s-fluxqueue', 'constructs', 'crds');
    // With a module name each: two CRDs of one group would overwrite each other.
    const modules = { MiniCluster: 'miniclusters', FluxSetup: 'fluxsetups', FluxJob: 'fluxjobs' };
    for (const [kind, name] of Object.entries(modules)) {
      const source = `${name}:=${join(crds, `${name}.yaml`)}`;
      run('cdk8s', ['import', source, '--language', 'typescript', '--check-upgrade=false'], project);
      const [file] = readdirSync(join(project, 'imports')).filter((each) => each.startsWith(name));
      const text = readFileSync(join(project, 'imports', file!), 'utf8');
      expect(text).toContain(`export class ${kind} extends ApiObject {`);
    }
  });

  test('validates the manifests of an app in cdk8s synth', () => {
    writeFileSync(join(project, 'validated.js'), VALIDATED_PROGRAM);
    writeFileSync(join(project, 'cdk8s.yaml'), VALIDATED_CONFIG);
    const synth = (env: Record<string, string> = {}) =>
      spawnSync(join(MODULES, '.bin', 'cdk8s'), ['synth', '--check-upgrade=false'], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, ...env },
      });
    const valid = synth();
    expect([valid.status, valid.stdout]).toEqual([0, expect.stringContaining('success')]);
    const invalid = synth({ MISTAKE: '1' });
    expect(invalid.status).toBe(2);
    expect(invalid.stdout).toContain('no-plaintext-secret');
    expect(invalid.stdout).toContain('Construct Path: team/secret');
    expect(invalid.stdout).toContain('Secret stringData.a: is a plain text');
  });

  test('contains the documents that its README links to', () => {
    const readme = readFileSync(join(installed, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\((docs\/[^)#]+\.md)/g)].map(([, path]) => path!);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });

  test('contains its Containerfiles and the bundle that they build from', () => {
    for (const file of ['runtime/Containerfile', 'runtime/fluxion/Containerfile'])
      expect(readFileSync(join(installed, file), 'utf8')).toContain('cp runtime.js');
    expect(existsSync(join(installed, 'runtime.js'))).toBe(true);
  });

  test('its program says its version, and keeps what Node compiled where it can', () => {
    const cache = mkdtempSync(join(tmpdir(), 'fluxqueue-compiled-'));
    const program = join('node_modules', 'cdk8s-fluxqueue', 'bin', 'fluxqueue.js');
    const ask = (home: string) =>
      run(
        'env',
        ['-u', 'NODE_COMPILE_CACHE', `XDG_CACHE_HOME=${home}`, process.execPath, program, '--version'],
        project,
      );
    expect(ask(cache)).toBe(`${manifest.version}\n`);
    expect(readdirSync(join(cache, 'cdk8s-fluxqueue', 'compiled'))).not.toEqual([]);
    expect(ask('/dev/null')).toBe(`${manifest.version}\n`);
    rmSync(cache, { recursive: true });
  });

  test('renders with its program as from source', () => {
    writeFileSync(join(project, 'hello.yaml'), RESOURCE);
    const program = join('node_modules', 'cdk8s-fluxqueue', 'bin', 'fluxqueue.js');
    expect(run('node', [program, 'render', 'hello.yaml'], project)).toBe(
      render({ text: RESOURCE, source: 'hello.yaml' }).yaml,
    );
  });
});
