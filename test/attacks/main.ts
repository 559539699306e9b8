/**
 * `npm run -s attacks -- --json`: plays every attack of the corpus against the live stack on a real control plane, in both
 * forms of admission. The last line is JSON. The exit code is 1 if an attack succeeded.
 */
import { Command } from 'commander';
import type { AdmissionForm } from '../../constructs/fluxqueue/admission/form';
import { messageOf } from '../../runtime/errors';
import { ATTACKS } from './corpus';
import { type Walked, walk } from './generated/play';
import { type Played, play } from './play';
import { World } from './world';

const options = new Command('attacks')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option('--admission <form>', 'policies or webhook; default: both')
  .option('--only <text>', 'play only the attacks whose role or name contains this text', '')
  .parse()
  .opts<{ json: boolean; admission?: AdmissionForm; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

const walks: Walked[] = [];

async function walkIn(world: World, form: AdmissionForm): Promise<void> {
  const walked = await walk(world);
  for (const text of walked.broken) print(`${form}: SUCCEEDED: ${text}`);
  print(`${form}: ${walked.requests} generated changes, ${walked.accepted} accepted`);
  walks.push(walked);
}

async function playForm(form: AdmissionForm): Promise<readonly Played[]> {
  print(`attacks with admission by ${form}`);
  const world = await World.start(form, print);
  try {
    const attacks = ATTACKS.filter(({ name, role }) => `${role}: ${name}`.includes(options.only));
    const played = await play(world, form, attacks);
    for (const { attack, outcome, answer } of played)
      if (outcome === 'succeeded')
        print(`${form}: SUCCEEDED: ${attack.role}: ${attack.name}: ${answer.slice(0, 400)}`);
    if (options.only === '') await walkIn(world, form);
    return played;
  } finally {
    await world.stop();
  }
}

async function main(): Promise<number> {
  const forms: readonly AdmissionForm[] =
    options.admission === undefined ? ['policies', 'webhook'] : [options.admission];
  const played: Played[] = [];
  for (const form of forms) played.push(...(await playForm(form)));
  const count = (outcome: Played['outcome']) => played.filter((one) => one.outcome === outcome).length;
  const sum = (of: (walked: Walked) => number) => walks.reduce((total, each) => total + of(each), 0);
  const broken = sum((walked) => walked.broken.length);
  const figures = {
    attacks: played.length + sum(({ requests }) => requests),
    generated: sum(({ requests }) => requests),
    refused: count('refused') + sum(({ requests, accepted }) => requests - accepted),
    contained: count('contained') + sum(({ accepted }) => accepted) - broken,
    succeeded: count('succeeded') + broken,
  };
  const { attacks, refused, contained, succeeded } = figures;
  const text = `${attacks} attacks: ${refused} refused, ${contained} contained, ${succeeded} succeeded`;
  process.stdout.write(`${options.json ? JSON.stringify(figures) : text}\n`);
  return succeeded === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    print(messageOf(error));
    process.exit(1);
  },
);
