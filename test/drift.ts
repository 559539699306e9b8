/**
 * `npm run drift`: generates imports, protocol and manifests again, in place, and fails when a file differs from the Git
 * index. Staged changes are part of the index, so it can run before a commit.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

interface Generated {
  /** Script of package.json that generates it. */
  readonly script: string;
  /** Path of the generated files. */
  readonly path: string;
  /** Source file; without it the script is skipped. */
  readonly from: string;
}

const GENERATED: readonly Generated[] = [
  { script: 'generate:imports', path: 'imports', from: 'cdk8s.yaml' },
  { script: 'generate:proto', path: 'runtime/fluxion/generated', from: 'runtime/fluxion/buf.gen.yaml' },
  { script: 'synth', path: 'dist', from: 'main.ts' },
];

/** Files under these paths that differ from the index, are not in it, or are deleted; sorted. */
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
    `drift: generated files were out of date: ${changed.join(', ')}; review and commit the regenerated files`,
  );
  return 1;
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(`drift: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
