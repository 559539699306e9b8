/** A version of this project as users have it: the program of its roles and the manifests of its stack. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import type { KubeObject } from '../cluster/api';
import { podTemplates, stackObjects } from '../constructs/manifests';
import { Roles } from '../stack/roles';

const ROOT = join(__dirname, '../..');

const SYNTH = `import { App } from 'cdk8s';
import { defaultStack } from './constructs/fluxqueue';
const app = new App();
defaultStack(app, JSON.parse(process.argv[2] ?? '{}'));
process.stdout.write(JSON.stringify(app.charts.flatMap((chart) => chart.toJson())));
`;

export interface Release {
  readonly name: string;
  readonly roles: Roles;
  /** The stack whose webhook is outside the cluster, and the files of the one whose roles are inside. */
  readonly objects: readonly KubeObject[];
  /** The ConfigMap that the pods of a Deployment mount. */
  readonly configMapOf: (deployment: string) => string;
}

/** A setting of this version's file that no version knows yet, as every new one is to the version before. */
const FUTURE = '\nfuture: { setting: true }\n';

export function currentRelease(props: FluxQueueProps): Release {
  const release = releaseWith('this version', new Roles(), props, stackObjects);
  for (const { kind, data } of release.objects)
    if (kind === 'ConfigMap' && isFile(data)) data['config.yaml'] += FUTURE;
  return release;
}

const isFile = (data: unknown): data is Record<'config.yaml', string> =>
  typeof data === 'object' && data !== null && 'config.yaml' in data;

function releaseWith(
  name: string,
  roles: Roles,
  props: FluxQueueProps,
  synth: (props: FluxQueueProps) => KubeObject[],
): Release {
  const { externalRuntime: _, ...others } = props;
  const inside = synth({ ...others, fluxion: 'embedded' });
  const files = inside.filter(({ kind, data }) => kind === 'ConfigMap' && isFile(data));
  return {
    name,
    roles,
    objects: [...synth(props), ...files],
    configMapOf: (deployment) => {
      const template = podTemplates(inside).find(({ owner }) => owner === deployment);
      return template!.spec.volumes!.find(({ name: volume }) => volume === 'config')!.configMap!.name!;
    },
  };
}

/** A commit of the repository, built with the packages of today. @throws if git does not have it */
export function releaseOf(commit: string, props: FluxQueueProps): Release {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-release-'));
  try {
    const files = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x'], { cwd: folder, input: files });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'objects.ts'), SYNTH);
    const run = (...args: string[]) =>
      execFileSync(join(ROOT, 'node_modules/.bin/tsx'), args, { cwd: folder, maxBuffer: 2 ** 28 });
    // Each version has its own path of the bundler.
    const bundle = (file: string) =>
      execFileSync('npm', ['run', '--silent', 'build', '--', file], { cwd: folder });
    const synth = (given: FluxQueueProps) =>
      JSON.parse(run('objects.ts', JSON.stringify(given)).toString()) as KubeObject[];
    return releaseWith(commit, new Roles(bundle), props, synth);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The version before: the last commit before the newest migration of the tables, which is what a rollback has to live with.
 * Undefined where git has no history.
 */
export function versionBefore(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const [newest] = git(
      'log',
      '--format=%H',
      '--diff-filter=A',
      '-1',
      '--',
      'runtime/queue/migrations',
    ).split('\n');
    return git('rev-parse', '--short', `${newest}^`);
  } catch {
    // No repository, or a shallow one: the caller says what is skipped.
    return undefined;
  }
}
