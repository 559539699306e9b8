/**
 * `npm run -s generate:schema`: writes fields.json, the names of the fields of workloads in each supported version of
 * Kubernetes, from the Go modules that declare them. It needs Go; a new version is one more line here.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const VERSIONS = { '1.30': 'v0.30.14', '1.34': 'v0.34.3', '1.37': 'v0.37.1' } as const;
const TYPES = [
  ['k8s.io/api', 'batch/v1/types.go', ['JobSpec', 'CronJobSpec', 'JobTemplateSpec']],
  [
    'k8s.io/api',
    'apps/v1/types.go',
    ['DeploymentSpec', 'ReplicaSetSpec', 'StatefulSetSpec', 'DaemonSetSpec'],
  ],
  [
    'k8s.io/api',
    'core/v1/types.go',
    ['PodTemplateSpec', 'PodSpec', 'Container', 'ReplicationControllerSpec'],
  ],
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1/types.go', ['ObjectMeta']],
] as const;

/** The folder of a module. */
function moduleAt(name: string, version: string): string {
  const cwd = mkdtempSync(path.join(tmpdir(), 'schema-'));
  try {
    const text = execFileSync('go', ['mod', 'download', '-json', `${name}@${version}`], {
      cwd,
      encoding: 'utf8',
    });
    return (JSON.parse(text) as { Dir: string }).Dir;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** The names of the fields of a struct in JSON. @throws Error if there is no such struct */
function fieldsOf(source: string, type: string): string[] {
  const start = source.indexOf(`\ntype ${type} struct {`);
  if (start < 0) throw new Error(`no struct ${type}`);
  const body = source.slice(start, source.indexOf('\n}', start));
  return [...body.matchAll(/^\t(?:\w+\.)?[A-Z]\w* .*`json:"(\w+)[,"]/gm)].map(([, name]) => name!).sort();
}

function fieldsIn(version: string): Record<string, string[]> {
  return Object.fromEntries(
    TYPES.flatMap(([name, file, types]) => {
      const source = readFileSync(path.join(moduleAt(name, version), file), 'utf8');
      return types.map((type) => [type, fieldsOf(source, type)]);
    }),
  );
}

const all = Object.entries(VERSIONS).map(([version, tag]) => [version, fieldsIn(tag)]);
writeFileSync(path.join(__dirname, 'fields.json'), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
