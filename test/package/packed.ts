/** The package as users get it: built and packed once for all tests of a file, from a copy of the sources. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
export const MODULES = join(ROOT, 'node_modules');
const SOURCES = [
  ...['LICENSE', 'README.md', 'bin', 'docs', 'constructs', 'imports', 'runtime', 'release', 'package.json'],
  // The local cluster.
  ...['package-lock.json', 'examples', 'test/cluster', 'test/stack'],
];

/** @returns what the command printed @throws with everything that it printed */
export function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${join(MODULES, '.bin')}:${process.env.PATH}`, NODE_OPTIONS: '' },
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** A folder with the tarball, to be removed after the tests. */
export class PackedPackage {
  readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-package-'));
  readonly tarball: string;

  constructor() {
    const source = join(this.folder, 'source');
    for (const name of [...SOURCES, ...readdirSync(ROOT).filter((file) => file.startsWith('tsconfig'))])
      cpSync(join(ROOT, name), join(source, name), { recursive: true });
    symlinkSync(MODULES, join(source, 'node_modules'));
    run('npm', ['run', '--silent', 'build:package'], source);
    const printed = run('npm', ['pack', './lib', '--silent', '--pack-destination', this.folder], source);
    this.tarball = join(this.folder, printed.trim().split('\n').at(-1)!);
  }

  /** An empty project. */
  project(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path);
    return path;
  }

  /** Unpacks it into a project beside packages of this repository. @returns its folder */
  unpackInto(project: string, beside: readonly string[]): string {
    const installed = join(project, 'node_modules', 'cdk8s-fluxqueue');
    mkdirSync(installed, { recursive: true });
    run('tar', ['xzf', this.tarball, '--strip-components=1', '-C', installed], project);
    for (const name of beside) symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
    return installed;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
