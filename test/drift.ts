/**
 * `npm run drift`: generates imports, protocol and manifests again in place and fails when a file differs from the index
 * of Git. Staged changes are in the index, so the check can run before a commit.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

interface Generated {
  /** Script of package.json that generates the files. */
  readonly script: string;
  /** The generated file, or the folder of the generated files. */
  readonly path: string;
  /** Settings of the generator; without this file the step is skipped. */
  readonly from: string;
}

const GENERATED: readonly Generated[] = [
  { script: 'generate:imports', path: 'imports', from: 'cdk8s.yaml' },
  {
    script: 'generate:dashboard',
    path: 'runtime/dashboard/page.json',
    from: 'runtime/dashboard/browser/main.ts',
  },
  {
    script: 'generate:simulation',
    path: 'runtime/simulation/uplot.json',
    from: 'runtime/simulation/embed.ts',
  },
  { script: 'generate:proto', path: 'runtime/fluxion/generated', from: 'runtime/fluxion/buf.gen.yaml' },
  { script: 'synth', path: 'dist', from: 'main.ts' },
];

/** Files under these paths that are changed, new or deleted relative to the index, sorted. */
function changedFiles(paths: readonly string[]): string[] {
  const status = execFileSync(
    'git',
    ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--', ...paths],
    { encoding: 'utf8' },
  );
  return status
    .split('\0')
    .filter((entry) => entry !== '' && entry[1] !== ' ')
    .map((entry) => entry.slice(3))
    .sort();
}

function generate({ script }: Generated): void {
  try {
    execFileSync('npm', ['run', '--silent', script], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm run ${script} failed:\n${stdout}${stderr}`);
  }
}

function main(): number {
  const present = GENERATED.filter(({ from }) => existsSync(from));
  for (const each of present) generate(each);
  const changed = changedFiles(present.map(({ path }) => path));
  if (changed.length === 0) return 0;
  console.error(
    `drift: ${changed.join(', ')} ${changed.length === 1 ? 'was' : 'were'} out of date and regenerated; review and commit the difference`,
  );
  return 1;
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(`drift: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
