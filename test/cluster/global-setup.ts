/**
 * Builds the control plane before the first test, because the first build takes minutes and would exceed the timeout of
 * a test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../runtime/errors';
import { controlPlaneAvailable, controlPlaneBuilt, findAssets } from './assets';
import { NO_CONTROL_PLANE } from './no-control-plane';
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

export default async function globalSetup(config: JestGlobalConfig): Promise<void> {
  await buildControlPlane(config);
  // The workers and the programs that they start inherit the variables; the build does not.
  Object.assign(process.env, { ...GO_SETTINGS, ...process.env });
}

async function buildControlPlane(config: JestGlobalConfig): Promise<void> {
  if (controlPlaneBuilt() || !controlPlaneAvailable().available || !wantsCluster(config)) return;
  try {
    await findAssets({ progress: stderrProgress() });
  } catch (error) {
    // The workers inherit the variable: their suites are skipped, or fail in CI, with this reason.
    process.env[NO_CONTROL_PLANE] = messageOf(error).replaceAll('\n', ' ');
  }
}

/** Whether a test file of this run uses a cluster; `jest test/constructs`, for example, needs none. */
function wantsCluster({ rootDir, testPathPatterns: { patterns } }: JestGlobalConfig): boolean {
  const folder = join(rootDir, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  return files
    .map((file) => join(folder, file))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern).test(file)))
    .some((file) => /\b(describeCluster|startCluster)\b/.test(readFileSync(file, 'utf8')));
}
