/** Runs `fluxqueue doctor` as its users do. */
import type { ReportedFinding } from '../../runtime/cli/doctor/doctor';
import type { Fixture } from './suite';

export interface Report {
  readonly code: number;
  readonly stderr: string;
  readonly findings: readonly ReportedFinding[];
}

/** The command as a process, with its exit code. @throws when it reports nothing */
export async function examine({ stack }: Fixture, kubeconfig: string, ...args: string[]): Promise<Report> {
  const run = stack.roles.once(['doctor', '-o', 'json', ...args], { KUBECONFIG: kubeconfig });
  const { code, stdout, stderr } = await run.then(
    (text) => ({ code: 0, stdout: text, stderr: '' }),
    (failure: { code: number; stdout: string; stderr: string }) => failure,
  );
  if (stdout === '') throw new Error(stderr);
  return { code, stderr, findings: (JSON.parse(stdout) as Pick<Report, 'findings'>).findings };
}

export function troubles({ findings }: Report): readonly ReportedFinding[] {
  return findings.filter(({ level }) => level !== 'ok');
}

/** The first trouble that this check found. */
export function trouble(report: Report, check: string): ReportedFinding | undefined {
  return troubles(report).find((each) => each.check === check);
}
