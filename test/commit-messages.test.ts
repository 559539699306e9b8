import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(__dirname, '..');
const GOOD = 'Requeue a gang whose node is lost\n\nIts pods wait for each other forever otherwise.\n';

describe('npm run commits', () => {
  let folder: string;
  let repository: string;
  let base: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  const commit = (message: string) =>
    git('commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', message);
  const check = (cwd = repository) => {
    const tsx = join(ROOT, 'node_modules/.bin/tsx');
    const { status, stderr } = spawnSync(tsx, [join(ROOT, 'test/commit-messages.ts'), base], {
      cwd,
      encoding: 'utf8',
    });
    return { status, stderr: stderr.trim() };
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-commits-'));
    repository = join(folder, 'repository');
    execFileSync('git', ['init', '-q', repository]);
    commit('an old message without a body.');
    base = git('rev-parse', 'HEAD');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('accepts commits with a short subject and a body, and ignores those before the base', () => {
    expect(check()).toEqual({ status: 0, stderr: '' });
    commit(GOOD);
    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  test.each([
    ['a long subject', `${'x'.repeat(73)}\n\nWhy.`, 'the subject has 73 characters, at most 72'],
    ['a period after the subject', 'Add a check.\n\nWhy.', 'the subject ends with a period'],
    ['a missing empty line', 'Add a check\nof messages\n\nWhy.', 'the second line is not empty'],
    ['a missing body', 'Add a check', 'there is no body that says why'],
  ])('refuses %s', (_, message, reason) => {
    commit(message);
    commit(GOOD);
    const { status, stderr } = check();
    expect(status).toBe(1);
    expect(stderr.split('\n')[0]).toBe(
      `commit ${git('rev-parse', 'HEAD~').slice(0, 12)} "${message.split('\n')[0]}": ${reason}`,
    );
  });

  test('ignores merge commits', () => {
    git('switch', '-q', '-c', 'branch');
    commit(GOOD);
    git('switch', '-q', '-');
    git('merge', '-q', '--no-ff', '-m', 'Merge a branch', 'branch');
    expect(check()).toEqual({ status: 0, stderr: '' });
  });

  test('checks a full clone and reports a shallow one', () => {
    commit('Add a check');
    const clone = (...args: string[]) => {
      const target = join(folder, `clone-${args.length}`);
      git('clone', '-q', ...args, pathToFileURL(repository).href, target);
      return target;
    };
    expect(check(clone()).status).toBe(1);
    expect(check(clone('--depth=1'))).toEqual({
      status: 0,
      stderr:
        'commit messages were not checked: the history is shallow; run git fetch --unshallow to check it',
    });
  });

  test('reports a history without the base and a folder without Git', () => {
    base = '0'.repeat(40);
    expect(check()).toEqual({
      status: 0,
      stderr: `commit messages were not checked: the history does not contain commit ${base}`,
    });
    expect(check(folder)).toEqual({
      status: 0,
      stderr: 'commit messages were not checked: this is not a Git repository',
    });
  });
});
