import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart, YamlOutputType } from 'cdk8s';
import { parse, parseAllDocuments } from 'yaml';
import { FluxQueue, FluxSetup } from '../../constructs/fluxqueue';
import { writeKustomization } from '../../constructs/gitops';

describe('the files for kustomize', () => {
  let outdir = '';
  beforeEach(() => {
    outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-kustomize-'));
  });
  afterEach(() => rmSync(outdir, { recursive: true }));

  const LAYERS = [
    '0-base',
    '1-rbac',
    '2-database',
    '3-controller',
    '4-webhook',
    '6-admission',
    '7-reader',
  ].map((layer) => `fluxqueue-${layer}`);

  /** An app whose first chart belongs after the stack. */
  const synth = (yamlOutputType: YamlOutputType, depend?: (team: Chart, stack: FluxQueue) => void) => {
    const app = new App({ outdir, yamlOutputType });
    const team = new Chart(app, 'a-team', { namespace: 'lab' });
    new FluxSetup(team, 'default');
    new Chart(app, 'empty');
    const stack = new FluxQueue(app, 'fluxqueue');
    depend?.(team, stack);
    app.synth();
    writeKustomization(app);
    return app;
  };
  const resources = (folder = outdir): string[] => {
    const file = parse(readFileSync(join(folder, 'Kustomization'), 'utf8')) as { resources: string[] };
    expect(file).toMatchObject({ kind: 'Kustomization', sortOptions: { order: 'fifo' } });
    return file.resources;
  };
  const kinds = (file: string) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map(
      (document) => (document.toJS() as { kind: string }).kind,
    );

  test('list the charts, the stack first', () => {
    synth(YamlOutputType.FILE_PER_CHART);
    expect(resources()).toEqual([...LAYERS, 'a-team'].map((name) => `${name}.k8s.yaml`));
  });

  test('list numbered charts in the order of their dependencies', () => {
    synth(YamlOutputType.FILE_PER_CHART, (team, stack) => stack.addDependency(team));
    expect(resources().map((file) => file.replace(/^\d{4}-/, ''))).toEqual(
      ['a-team', ...LAYERS].map((name) => `${name}.k8s.yaml`),
    );
    for (const file of resources()) expect(readdirSync(outdir)).toContain(file);
  });

  test('list the file of an app', () => {
    synth(YamlOutputType.FILE_PER_APP);
    expect(resources()).toEqual(['app.k8s.yaml']);
  });

  test('list single objects in the order of the app', () => {
    synth(YamlOutputType.FILE_PER_RESOURCE);
    const files = resources();
    expect(new Set(files)).toEqual(new Set(readdirSync(outdir).filter((file) => file.endsWith('.yaml'))));
    expect(files[0]).toBe('Namespace.fluxqueue-system.k8s.yaml');
    expect(files.at(-1)).toBe('FluxSetup.default.k8s.yaml');
  });

  test('are in every folder', () => {
    synth(YamlOutputType.FOLDER_PER_CHART_FILE_PER_RESOURCE);
    expect(resources()).toEqual([...LAYERS, 'a-team']);
    for (const folder of resources()) {
      const files = resources(join(outdir, folder));
      const written = readdirSync(join(outdir, folder)).filter((file) => file.endsWith('.yaml'));
      expect(new Set(files)).toEqual(new Set(written));
    }
    const base = join(outdir, 'fluxqueue-0-base');
    expect(kinds(join(base, resources(base)[0] ?? ''))).toEqual(['Namespace']);
  });

  test('put a chart around the stack first', () => {
    const app = new App({ outdir });
    new FluxSetup(new Chart(app, 'a-team', { namespace: 'lab' }), 'default');
    new FluxQueue(new Chart(app, 'platform'), 'fluxqueue');
    app.synth();
    writeFileSync(join(outdir, 'notes.yaml'), 'not: a manifest of the app\n');
    writeKustomization(app);
    expect(resources()).toEqual(['platform.k8s.yaml', 'a-team.k8s.yaml']);
  });
});
