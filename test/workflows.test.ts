/** The workflows of GitHub: what they run, and actionlint if it can be had. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ACTIONLINT } from './go-programs';

const FOLDER = join(__dirname, '..', '.github', 'workflows');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, { readonly permissions?: Record<string, string>; readonly steps: Step[] }>;
}

const files = readdirSync(FOLDER);
const read = (file: string) => parse(readFileSync(join(FOLDER, file), 'utf8')) as Workflow;
const stepsOf = (file: string) => Object.values(read(file).jobs).flatMap(({ steps }) => steps);
const commandsOf = (file: string) =>
  stepsOf(file)
    .flatMap(({ run }) => run ?? [])
    .join('\n');

test('actionlint finds no problem', () => {
  const program = ACTIONLINT.buildOrSkip();
  if (program === undefined) return;
  const paths = files.map((file) => join(FOLDER, file));
  const { status, stdout } = spawnSync(program, paths, { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});

test('every action is pinned to a commit', () => {
  const used = files.flatMap(stepsOf).flatMap(({ uses }) => uses ?? []);
  expect(used.length).toBeGreaterThan(4);
  for (const action of used) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/);
});

test('CI and a release run what .ci/run runs', () => {
  expect(files.sort()).toEqual(['ci.yml', 'release.yml']);
  for (const file of files) expect(commandsOf(file)).toContain('.ci/run');
});

test('a release checks advisories of production dependencies and has an SBOM, digests and provenance', () => {
  const commands = commandsOf('release.yml');
  for (const command of [
    'npm audit --omit=dev',
    'npm sbom --omit=dev',
    'npm run -s images:digests',
    'npm pack ./lib',
    'npm run -s krew -- release',
  ])
    expect(commands).toContain(command);
  const attested = stepsOf('release.yml').filter(({ uses }) =>
    uses?.startsWith('actions/attest-build-provenance@'),
  );
  expect(attested).toHaveLength(3);
});

test('only the job that publishes can write', () => {
  for (const file of files) {
    const { permissions, jobs } = read(file);
    expect(permissions).toEqual({ contents: 'read' });
    const writing = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined);
    expect(writing.map(([name]) => name)).toEqual(file === 'release.yml' ? ['publish'] : []);
  }
});
