/**
 * `tsx test/second-try.ts RESULTS COMMAND...`: runs the failed suites of a run of jest once more, by COMMAND, alone on
 * the machine. RESULTS is the file that `jest --json --outputFile` wrote. Exits with 0 if all of them pass then.
 * docs/decisions/0025 says why.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** More suites than this do not fail by chance. */
const MAX_SUITES = 3;

interface Results {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

function failedSuites(file: string): string[] {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Results;
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
}

function main(file: string, [command = '', ...options]: readonly string[]): number {
  const suites = failedSuites(file);
  if (suites.length === 0 || suites.length > MAX_SUITES) {
    process.stderr.write(`${suites.length} suites failed: no second try\n`);
    return 1;
  }
  process.stderr.write(`SECOND TRY of ${suites.join(', ')}\n`);
  const { status, error } = spawnSync(command, [...options, ...suites], { stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) return 1;
  for (const suite of suites) process.stderr.write(`UNRELIABLE: ${suite} failed first and passed then\n`);
  return 0;
}

process.exitCode = main(process.argv[2] ?? '', process.argv.slice(3));
