/** Runs the MiniCluster examples as users do and collects their objects. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { MiniCluster, type MiniClusterResource } from '../../constructs/minicluster';
import { render } from '../../runtime/cli/render';
import type { KubeObject } from '../cluster/api';

const FOLDER = join(__dirname, '../../examples/minicluster');

export const FILES: readonly string[] = readdirSync(FOLDER).sort();

export interface Example {
  /** All MiniClusters of the example. */
  readonly resources: readonly MiniClusterResource[];
  /** All objects to apply; for a manifest also the output of `fluxqueue render`. */
  readonly objects: readonly KubeObject[];
}

const made = new Map<string, Example>();

/** Runs each example once. */
export function example(file: string): Example {
  const known = made.get(file) ?? (file.endsWith('.ts') ? program(file) : manifest(file));
  made.set(file, known);
  return known;
}

/** Imports the program, because two dozen starts of Node would take a minute. */
function program(file: string): Example {
  const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-example-'));
  const before = process.env.CDK8S_OUTDIR;
  process.env.CDK8S_OUTDIR = outdir;
  const synth = jest.spyOn(App.prototype, 'synth');
  try {
    jest.requireActual(join(FOLDER, file));
    const apps = synth.mock.contexts as App[];
    if (apps.length !== 1) throw new Error(`${file} calls app.synth() ${apps.length} times`);
    const clusters = apps.flatMap((app) => app.node.findAll()).filter((each) => each instanceof MiniCluster);
    const files = readdirSync(outdir).sort();
    return {
      resources: clusters.map(({ resource }) => resource),
      objects: files.flatMap((name) => objectsIn(readFileSync(join(outdir, name), 'utf8'))),
    };
  } finally {
    synth.mockRestore();
    if (before === undefined) delete process.env.CDK8S_OUTDIR;
    else process.env.CDK8S_OUTDIR = before;
    rmSync(outdir, { recursive: true });
  }
}

function manifest(file: string): Example {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const objects = objectsIn(text);
  return {
    resources: objects as unknown as MiniClusterResource[],
    objects: [...objects, ...objectsIn(render({ text, source: file }).yaml)],
  };
}

function objectsIn(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

/** Paths of all fields that the specs set, in the form of docs/minicluster-fields.md. */
export function fieldsOf({ resources }: Example): ReadonlySet<string> {
  const paths = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    paths.add(path);
    if (Array.isArray(value)) for (const each of value) walk(each, `${path}[]`);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) walk(each, below(path, key));
  };
  // Services have the fields of containers.
  for (const { spec } of resources) {
    walk(spec, '');
    for (const service of spec.services ?? []) walk(service, 'containers[]');
  }
  return paths;
}

function below(path: string, key: string): string {
  if (path === '') return key;
  return path.endsWith('[].volumes') ? `${path}{}` : `${path}.${key}`;
}
