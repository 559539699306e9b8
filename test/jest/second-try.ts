/**
 * `tsx test/jest/second-try.ts RESULTS LIST COMMAND...`: runs the failed suites of a run of Jest once more, by COMMAND, alone on the
 * machine, if each of them only waited on a machine without time, or is in LIST, which says why it decides by the clock of the machine
 * (unreliable.json). RESULTS is the file that `jest --json --outputFile` wrote. Exits with 0 if all of them pass then.
 * docs/decisions/0025 says why.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Suite {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly {
    readonly status: string;
    /** Of the test and of the hooks around it. */
    readonly failureMessages: readonly string[];
  }[];
}

/** What `waitFor` says that gives up (test/cluster/wait.ts). */
const WAITED = /FLUXQ_TEST_TIMEOUT: .*\(got "(\d+) ms, of which the machine had (\d+) to spare"\)/;

/** Whether it failed by a wait on a machine that had no time for it. */
function wasStarved(message: string): boolean {
  const [, waited, spare] = WAITED.exec(message) ?? [];
  return waited !== undefined && Number(spare) < Number(waited) / 2;
}

/** Whether the machine was too slow for every test of it that failed. What hangs does so again, alone. */
function onlyStarved({ assertionResults }: Suite): boolean {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  return failed.length > 0 && failed.every(({ failureMessages: [first = ''] }) => wasStarved(first));
}

function failedSuites(file: string): Suite[] {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: readonly Suite[] };
  return testResults
    .filter(({ status }) => status === 'failed')
    .map((suite) => ({ ...suite, name: relative('.', suite.name) }));
}

function main(file: string, list: string, [command = '', ...options]: readonly string[]): number {
  const failed = failedSuites(file);
  const suites = failed.map(({ name }) => name);
  const unreliable = JSON.parse(readFileSync(list, 'utf8')) as Readonly<Record<string, string>>;
  const reliable = failed
    .filter((suite) => !(suite.name in unreliable || onlyStarved(suite)))
    .map(({ name }) => name);
  if (suites.length === 0 || reliable.length > 0) {
    process.stderr.write(`no second try: ${reliable.join(', ') || 'no suite failed, something else did'}\n`);
    return 1;
  }
  process.stderr.write(`SECOND TRY of ${suites.join(', ')}\n`);
  const { status, error } = spawnSync(command, [...options, ...suites], { stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) return 1;
  for (const suite of suites) process.stderr.write(`UNRELIABLE: ${suite} failed first and passed then\n`);
  return 0;
}

process.exitCode = main(process.argv[2] ?? '', process.argv[3] ?? '', process.argv.slice(4));
