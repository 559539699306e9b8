/** A Git repository in a temporary folder, from which the engines read the manifests of a revision. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { KubeObject } from '../cluster/api';

const IDENTITY = ['-c', 'user.name=team', '-c', 'user.email=team@example.com'];

export class Repository {
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-git-'));

  constructor() {
    this.git('init', '-q', '--initial-branch=main');
  }

  /** Writes one file per object, removes the files of null, and commits. */
  commit(message: string, changes: Readonly<Record<string, KubeObject | null>>): void {
    for (const [file, object] of Object.entries(changes)) {
      const path = join(this.folder, file);
      if (object === null) {
        rmSync(path);
        continue;
      }
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, stringify(object));
    }
    this.git('add', '-A');
    this.git(...IDENTITY, 'commit', '-q', '-m', message);
  }

  /** Takes back the last commits, the newest first. */
  revert(commits: number): void {
    this.git(...IDENTITY, 'revert', '--no-edit', `HEAD~${commits}..HEAD`);
  }

  /** The manifests of a folder in the newest revision. */
  read(folder: string): KubeObject[] {
    const files = this.git('ls-tree', '-r', '--name-only', 'HEAD', folder).split('\n').filter(Boolean);
    return files.map((file) => parse(this.git('show', `HEAD:${file}`)) as KubeObject);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
