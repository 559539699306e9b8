/** The workflows of GitHub: what they run, and actionlint if it can be had. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const FOLDER = join(__dirname, '..', '.github', 'workflows');
const CACHE = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'cdk8s-fluxqueue',
  'actionlint-1.7.12',
);
const MODULE = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

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

/** The program, built once from its Go module; undefined without Go, or without the module. */
function actionlint(): string | undefined {
  const program = join(CACHE, 'actionlint');
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const env = { ...process.env, GOBIN: CACHE, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  const { status } = spawnSync('go', ['install', MODULE], { env, stdio: 'ignore', timeout: 300_000 });
  return status === 0 && existsSync(program) ? program : undefined;
}

test('actionlint finds no problem', () => {
  const program = actionlint();
  if (program === undefined) {
    process.stderr.write(`skipped: actionlint (go install ${MODULE} failed)\n`);
    return;
  }
  const paths = files.map((file) => join(FOLDER, file));
  const { status, stdout } = spawnSync(program, paths, { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
}, 330_000);

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
