/** A version of this project as users have it: the program of its roles and the manifests of its stack. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import type { KubeObject } from '../cluster/api';
import { stackObjects } from '../constructs/manifests';
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
  readonly objects: readonly KubeObject[];
}

export function currentRelease(props: FluxQueueProps): Release {
  return { name: 'this version', roles: new Roles(), objects: stackObjects(props) };
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
    const objects = JSON.parse(run('objects.ts', JSON.stringify(props)).toString()) as KubeObject[];
    const roles = new Roles((file) => run('runtime/bundle.ts', file));
    return { name: commit, roles, objects };
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
