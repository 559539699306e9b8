/**
 * `npm run -s gitops -- --json`: Flux CD and Argo CD bring a team's Git repository and the stack to a real control plane by
 * their own code: apply, apply again, edit, revert, prune, in both forms of admission; and every example. The last line is JSON; the exit code
 * is 1 if anything was wrong. It builds the engines, once per machine.
 */
import { Command } from 'commander';
import type { AdmissionForm } from '../../constructs/fluxqueue/admission/form';
import { messageOf } from '../../runtime/errors';
import { enginesPossible } from './engines';
import { ExamplesLife } from './examples';
import { FirstSync } from './first-sync';
import { Findings, KINDS_OF_TROUBLE, TeamLife } from './scenario';
import { World } from './world';

const options = new Command('gitops')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option('--admission <form>', 'policies or webhook; default: both')
  .option('--only <way>', 'only the ways whose name contains this text', '')
  .parse()
  .opts<{ json: boolean; admission?: AdmissionForm; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

async function playForm(form: AdmissionForm, findings: Findings): Promise<void> {
  const world = await World.start(form, print);
  try {
    const ways = world.ways.filter(({ name }) => name.includes(options.only));
    for (const way of ways) {
      print(`${way.name} with admission by ${form}`);
      await world.applyStack(way, findings);
      await new ExamplesLife(world.stack.cluster, way, findings).live();
      await new FirstSync(world.stack.cluster, way, `sync-${way.name}`, findings).live();
      await new TeamLife(world.stack.cluster, world.engines, way, `team-${way.name}`, findings).live();
    }
    await world.stack.roles.stop();
    for (const way of ways) await world.pruneStack(way, findings);
  } finally {
    await world.stop();
  }
}

async function main(): Promise<number> {
  if (!enginesPossible()) {
    print('skipped: Go is not installed to build the engines');
    return 0;
  }
  const findings = new Findings(print);
  const forms: readonly AdmissionForm[] =
    options.admission === undefined ? ['policies', 'webhook'] : [options.admission];
  for (const form of forms) await playForm(form, findings);
  const counts = Object.fromEntries(KINDS_OF_TROUBLE.map((kind) => [kind, findings.count(kind)]));
  const result = { objects: findings.objects, ...counts };
  const text = Object.entries(result).map(([name, count]) => `${count} ${name}`);
  process.stdout.write(`${options.json ? JSON.stringify(result) : text.join(', ')}\n`);
  return findings.all.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    print(messageOf(error));
    process.exit(1);
  },
);
