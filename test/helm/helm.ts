/** Helm: that of the machine, or the one that `npm run -s helm:tool` builds once from its Go module into the cache. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { FluxqError } from '../../runtime/errors';

const VERSION = '3.22.0';
const MODULE = `helm.sh/helm/v3/cmd/helm@v${VERSION}`;
const CACHE = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'cdk8s-fluxqueue',
  `helm-${VERSION}`,
);

/** The program; undefined if there is none: tests do not build for five minutes. */
export function helmProgram(): string | undefined {
  const built = join(CACHE, 'helm');
  if (existsSync(built)) return built;
  return spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0 ? 'helm' : undefined;
}

/** Runs Helm and returns its output. @throws with its messages */
export function helm(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(helmProgram()!, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout;
  throw new Error(`helm ${args[0]}: ${stderr}`);
}

if (require.main === module) {
  mkdirSync(CACHE, { recursive: true });
  const env = { ...process.env, GOBIN: CACHE, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  const { status } = spawnSync('go', ['install', '-trimpath', '-ldflags', '-s -w', MODULE], {
    env,
    stdio: 'inherit',
  });
  if (status !== 0)
    throw new FluxqError('FLUXQ_TEST_BUILD', `go install ${MODULE} failed`, {
      remedy: 'install Go, or Helm itself',
    });
  process.stdout.write(`${join(CACHE, 'helm')}\n`);
}
