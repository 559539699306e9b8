/** Writes docs/reasons.md from the situations: `npm run generate:reasons`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REASONS } from '../../../runtime/fluxjobs/status';
import type { Situation } from './situation';
import { SITUATIONS } from './situations';

const PAGE = join(__dirname, '../../../docs/reasons.md');
const TO_DO = 'what to do: ';

/** The sentence that has the reason. */
function sentenceOf({ reason, prints }: Situation): string {
  const said = prints.find((line) => line.startsWith(`${reason}: `)) ?? prints[0]!;
  return said.replace(`${reason}: `, '');
}

function adviceOf({ prints }: Situation): string {
  return prints.find((line) => line.startsWith(TO_DO))?.slice(TO_DO.length) ?? '';
}

function row(situation: Situation): string {
  const cells = [`\`${situation.reason}\``, situation.because, sentenceOf(situation), adviceOf(situation)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** In the order of the reasons; words of Kubernetes come last. */
function inOrder(): readonly Situation[] {
  const rank = ({ reason }: Situation) => {
    const at = (REASONS as readonly string[]).indexOf(reason);
    return at < 0 ? REASONS.length : at;
  };
  return SITUATIONS.toSorted((a, b) => rank(a) - rank(b));
}

function example(reason: string): string {
  return SITUATIONS.find((situation) => situation.reason === reason)!.prints.join('\n');
}

/** The text of docs/reasons.md. */
export function page(): string {
  return `# Reasons

\`npm run generate:reasons\` writes this file from the situations of test/cli/why. Each of them is brought about on a simulated cluster by the real
controller, and the whole answer of \`kubectl fluxqueue why\` is compared.

A workload's FluxJob has one reason at a time, in the column REASON of \`kubectl get fluxjobs\` and in its condition \`Scheduled\`. \`kubectl fluxqueue why\`
prints it with its sentence, the start that is known, who is ahead, who of the namespace holds nodes until when, and what to do:

\`\`\`console
$ kubectl fluxqueue why mine
${example('Busy')}
\`\`\`

Reasons that are not in this table are words of kube-scheduler or the kubelet about the pods of a workload that was granted nodes.

| reason | because | sentence | what to do |
| --- | --- | --- | --- |
${inOrder().map(row).join('\n')}
`;
}

export function writtenPage(): string {
  return readFileSync(PAGE, 'utf8');
}

if (require.main === module) writeFileSync(PAGE, page());
