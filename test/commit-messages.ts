/**
 * `npm run commits [-- BASE]`: checks the messages of all commits after BASE but merges: a subject of at most 72 characters
 * without a period at its end, an empty second line, and a body.
 */
import { execFileSync } from 'node:child_process';
import { messageOf } from '../runtime/errors';

/** The rule holds for commits after this one. */
const BASE = 'ab1a4d4fcf568ed21847c23fa2d7c1472f98142d';

const MAX_SUBJECT = 72;

/** @returns the violations of the rule, empty for a good message */
function violations(message: string): string[] {
  const [subject = '', second = '', ...body] = message.trimEnd().split('\n');
  const found: string[] = [];
  if (subject.length > MAX_SUBJECT)
    found.push(`the subject has ${subject.length} characters, at most ${MAX_SUBJECT}`);
  if (subject.endsWith('.')) found.push('the subject ends with a period');
  if (second !== '') found.push('the second line is not empty');
  if (body.join('').trim() === '') found.push('there is no body that says why');
  return found;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 }).trim();
}

/** Why the history can not be checked; undefined if it can. */
function obstacle(base: string): string | undefined {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true')
      return 'the history is shallow; run git fetch --unshallow to check it';
  } catch {
    return 'this is not a Git repository';
  }
  try {
    git('merge-base', '--is-ancestor', base, 'HEAD');
    return undefined;
  } catch {
    return `the history does not contain commit ${base}`;
  }
}

function main(base = BASE): number {
  const reason = obstacle(base);
  if (reason !== undefined) {
    console.error(`commit messages were not checked: ${reason}`);
    return 0;
  }
  const commits = git('log', '--no-merges', '--reverse', '-z', '--format=%H%n%B', `${base}..HEAD`).split(
    '\0',
  );
  const bad = commits
    .filter((commit) => commit !== '')
    .map((commit) => ({ hash: commit.slice(0, 40), message: commit.slice(41) }))
    .map(({ hash, message }) => ({ hash, subject: message.split('\n', 1)[0], found: violations(message) }))
    .filter(({ found }) => found.length > 0);
  for (const { hash, subject, found } of bad)
    console.error(`commit ${hash.slice(0, 12)} "${subject}": ${found.join('; ')}`);
  if (bad.length > 0) console.error('reword these commits with git rebase --interactive');
  return bad.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv[2]);
} catch (error) {
  console.error(`commit messages: ${messageOf(error)}`);
  process.exitCode = 1;
}
