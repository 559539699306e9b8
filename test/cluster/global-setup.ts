/**
 * What the suites of one run share: the control plane and other programs in Go, which are built before the first test, because a first
 * build takes minutes of all cores; the bundle of the runtime; and a Postgres.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleRuntime } from '../../release/bundle';
import { messageOf } from '../../runtime/errors';
import { buildGoPrograms } from '../go-programs';
import { seedOfToday } from '../seed';
import { SHARED_BUNDLE } from '../stack/roles';
import { controlPlaneAvailable, controlPlaneBuilt, findAssets } from './assets';
import { NO_CONTROL_PLANE } from './no-control-plane';
import { postgresAvailable, SHARED_POSTGRES, startPostgres } from './postgres';
import { stderrProgress } from './progress';

interface JestGlobalConfig {
  readonly rootDir: string;
  readonly testPathPatterns: { readonly patterns: readonly string[] };
}

/**
 * Collects garbage later: a control plane with the stack then starts with a fifth less of processor time. Benchmarks have
 * Go's own settings, because they do not start here.
 */
const GO_SETTINGS = { GOGC: '400', GOMEMLIMIT: '1GiB' };

declare global {
  /** Ends what the set-up has started; `globalTeardown` calls it in the same process, where it is another module. */
  var fluxqueueTeardowns: (() => Promise<void> | void)[];
}
globalThis.fluxqueueTeardowns = [];

export default async function globalSetup(config: JestGlobalConfig): Promise<void> {
  process.env.PROPERTY_SEED = String(seedOfToday());
  if (config.testPathPatterns.patterns.length === 0)
    process.stderr.write(
      `random tests have the seed of the day: PROPERTY_SEED=${process.env.PROPERTY_SEED} repeats them\n`,
    );
  const texts = textsOf(config);
  const wants = (words: RegExp) => texts.some((text) => words.test(text));
  const needsCluster = wants(/\b(describe(Own)?(Cluster|Stack)|startCluster)\b/);
  if (needsCluster) await buildControlPlane();
  buildGoPrograms(texts);
  // The workers and the programs that they start inherit the variables; the builds do not.
  if (needsCluster) {
    Object.assign(process.env, { ...GO_SETTINGS, ...process.env });
  }
  if (wants(/\b(Roles|describe(Own)?Stack)\b/)) shareBundle(config.rootDir);
  if (wants(/\b(describePostgres|describe(Own)?Stack)\b/)) await sharePostgres();
}

/** Roles and commands run from it, many times: Node keeps what it compiled. */
function shareBundle(rootDir: string): void {
  const folder = join(rootDir, 'node_modules', '.cache', 'cdk8s-fluxqueue', `run-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'runtime.js');
  bundleRuntime(file);
  process.env[SHARED_BUNDLE] = file;
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
  fluxqueueTeardowns.push(() => rmSync(folder, { recursive: true }));
}

/** Suites that stop or freeze the server start one of their own. */
async function sharePostgres(): Promise<void> {
  if (process.env.DATABASE_URL || !postgresAvailable().available) return;
  const postgres = await startPostgres({ own: true });
  process.env[SHARED_POSTGRES] = postgres.url;
  fluxqueueTeardowns.push(() => postgres.stop());
}

async function buildControlPlane(): Promise<void> {
  if (controlPlaneBuilt() || !controlPlaneAvailable().available) return;
  try {
    await findAssets({ progress: stderrProgress() });
  } catch (error) {
    // The workers inherit the variable: their suites are skipped, or fail in CI, with this reason.
    process.env[NO_CONTROL_PLANE] = messageOf(error).replaceAll('\n', ' ');
  }
}

/** The test files of this run, which say what they need; `jest test/constructs/api`, for example, needs no cluster. */
function textsOf({ rootDir, testPathPatterns: { patterns } }: JestGlobalConfig): readonly string[] {
  const folder = join(rootDir, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  return files
    .map((file) => join(folder, file))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern).test(file)))
    .map((file) => readFileSync(file, 'utf8'));
}
