/**
 * Files for kustomize, so that `kubectl apply -k` and the engines of GitOps apply the manifests of an app in their order. They
 * are named `Kustomization`: that is as valid as `kustomization.yaml`, and `kubectl apply -f` on the directory does not take it
 * for a manifest.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiObject, type App, type Chart, Names, Yaml, YamlOutputType } from 'cdk8s';
import { STACK_METADATA } from '../api/labels';

const FILE = 'Kustomization';

/**
 * Writes a `Kustomization` into each directory with manifests of an app. Call it after `app.synth()`. The stack comes first:
 * its CRDs and its admission have to be there before the first queue and the first Job.
 */
export function writeKustomization(app: App): void {
  const { outdir, yamlOutputType } = app;
  if (yamlOutputType !== YamlOutputType.FOLDER_PER_CHART_FILE_PER_RESOURCE) {
    write(outdir, filesOf(app));
    return;
  }
  const folders = entries(app, '');
  for (const { chart, name } of folders) write(join(outdir, name), objectFiles(app, chart));
  write(
    outdir,
    folders.map(({ name }) => name),
  );
}

function filesOf(app: App): string[] {
  switch (app.yamlOutputType) {
    case YamlOutputType.FILE_PER_APP:
      return [`app${app.outputFileExtension}`];
    case YamlOutputType.FILE_PER_RESOURCE:
      return sorted(app).flatMap((chart) => objectFiles(app, chart));
    default:
      return entries(app, app.outputFileExtension).map(({ name }) => name);
  }
}

/** The file or folder of each chart, in order. cdk8s numbers them if the app has dependencies between charts. */
function entries(app: App, extension: string): { chart: Chart; name: string }[] {
  const written = readdirSync(app.outdir);
  const found = sorted(app).flatMap((chart) => {
    const own = `${Names.toDnsLabel(chart)}${extension}`;
    const name = written.find((each) => each.replace(/^\d{4}-/, '') === own);
    return name === undefined ? [] : [{ chart, name }];
  });
  const isNumbered = found.every(({ chart, name }) => name !== `${Names.toDnsLabel(chart)}${extension}`);
  return isNumbered ? found.sort((a, b) => (a.name < b.name ? -1 : 1)) : found;
}

function sorted(app: App): Chart[] {
  // kustomize does not accept a file without objects.
  const charts = app.charts.filter((chart) =>
    chart.node.findAll().some((each) => ApiObject.isApiObject(each) && each.chart === chart),
  );
  const hasStack = (chart: Chart) =>
    chart.node.findAll().some(({ node }) => node.metadata.some(({ type }) => type === STACK_METADATA));
  return [...charts.filter(hasStack), ...charts.filter((chart) => !hasStack(chart))];
}

/** Names of files as cdk8s makes them for single objects. */
function objectFiles(app: App, chart: Chart): string[] {
  const objects = chart.toJson() as { kind: string; metadata: { name: string } }[];
  const names = objects.map(({ kind, metadata }) =>
    `${kind}.${metadata.name}`.replace(/[^0-9a-zA-Z-_.]/g, ''),
  );
  return [...new Set(names)].map((name) => `${name}${app.outputFileExtension}`);
}

function write(folder: string, resources: readonly string[]): void {
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    // Without it kustomize sorts by kinds, and brings webhooks and policies before what they need.
    sortOptions: { order: 'fifo' },
    resources,
  };
  writeFileSync(join(folder, FILE), Yaml.stringify(kustomization));
}
