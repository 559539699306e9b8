/** Helm: that of the machine, or the one that `npm run -s helm:tool` builds once from its Go module into the cache. */
import { spawnSync } from 'node:child_process';
import { FluxqError } from '../../runtime/errors';
import { GoProgram } from '../go-program';

const HELM = new GoProgram('helm.sh/helm/v3/cmd/helm', 'v3.22.0');

/** The program; undefined if there is none: tests do not build for five minutes. */
export function helmProgram(): string | undefined {
  if (HELM.built !== undefined) return HELM.built;
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
  const program = HELM.build('inherit');
  if (program === undefined)
    throw new FluxqError('FLUXQ_TEST_BUILD', `go install ${HELM.module} failed`, {
      remedy: 'install Go, or Helm itself',
    });
  process.stdout.write(`${program}\n`);
}
