/**
 * `npm run -s attacks -- --json`: plays every attack of the corpus against the live stack on a real control plane, in all
 * forms of admission, and then stores those of users beside a neighbour. The last line is JSON. The exit code is 1 if an
 * attack succeeded, if fewer than a thousand were generated, or if a Job of the neighbour lost its nodes or did not succeed.
 */
import { Command } from 'commander';
import { messageOf } from '../../runtime/errors';
import { seedOfToday } from '../seed';
import type { Form } from './attack';
import { ATTACKS } from './corpus';
import { type Ended, partOf, playEndings } from './endings/play';
import { type Walked, walk } from './generated/play';
import { type NeighbourFigures, playBesideNeighbour } from './neighbour';
import { type Played, play } from './play';
import { World } from './world';

const options = new Command('attacks')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option(
    '--admission <form>',
    'policies, webhook or older (webhook, Kubernetes 1.34 emulated); default: all',
  )
  .option('--every <number>', 'of the generated changes only one of so many, another one each day', '1')
  .option('--only <text>', 'play only the attacks whose role or name contains this text', '')
  .parse()
  .opts<{ json: boolean; admission?: Form; every: string; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

/** A walk that finds fewer does not know the schema of the apiserver. */
const LEAST_GENERATED = 1_000;

/** What the apiserver of each form says of itself. */
const versions: Partial<Record<Form, string>> = {};
const walks: Walked[] = [];
const endings: Ended[] = [];
const neighbours: NeighbourFigures[] = [];

interface Version {
  readonly gitVersion: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
}

async function walkIn(world: World, form: Form): Promise<void> {
  const walked = await walk(world, { every: Number(options.every), from: seedOfToday() });
  for (const text of walked.broken) print(`${form}: SUCCEEDED: ${text}`);
  print(`${form}: ${walked.requests} generated changes, ${walked.accepted} accepted`);
  walks.push(walked);
}

/** The rules about them are policies of the apiserver in each form, so all are played in one. */
async function endIn(world: World, form: Form): Promise<void> {
  const every = Number(options.every) * (form === 'policies' ? 1 : 4);
  const ended = await playEndings(world, partOf(every, seedOfToday()));
  for (const text of ended.broken) print(`${form}: SUCCEEDED: ${text}`);
  print(
    `${form}: ${ended.cases} ends of workloads, ${ended.accepted} of ${ended.requests} requests accepted`,
  );
  endings.push(ended);
}

async function playForm(form: Form): Promise<readonly Played[]> {
  print(`attacks with admission by ${form}`);
  const world = await World.start(form, print);
  try {
    const attacks = ATTACKS.filter(({ name, role }) => `${role}: ${name}`.includes(options.only));
    const played = await play(world, form, attacks);
    for (const { attack, outcome, answer } of played)
      if (outcome === 'succeeded')
        print(`${form}: SUCCEEDED: ${attack.role}: ${attack.name}: ${answer.slice(0, 400)}`);
    const { cluster } = world.stack;
    const { gitVersion, emulationMajor, emulationMinor } = await cluster.get<Version>('/version');
    const emulated = `${emulationMajor}.${emulationMinor}`;
    versions[form] = gitVersion.startsWith(`v${emulated}.`) ? gitVersion : `${gitVersion}, as ${emulated}`;
    if (options.only !== '') return played;
    await walkIn(world, form);
    await endIn(world, form);
    neighbours.push(await playBesideNeighbour(world, attacks));
    return played;
  } finally {
    await world.stop();
  }
}

async function main(): Promise<number> {
  const forms: readonly Form[] =
    options.admission === undefined ? ['policies', 'webhook', 'older'] : [options.admission];
  const played: Played[] = [];
  for (const form of forms) played.push(...(await playForm(form)));
  const count = (outcome: Played['outcome']) => played.filter((one) => one.outcome === outcome).length;
  const sum = (of: (each: Walked | Ended) => number) =>
    [...walks, ...endings].reduce((total, each) => total + of(each), 0);
  const total = (key: 'jobs' | 'requeues' | 'requeueLimit' | 'failed') =>
    neighbours.reduce((all, one) => all + one[key], 0);
  const broken = sum((each) => each.broken.length);
  const figures = {
    attacks: played.length + sum(({ requests }) => requests),
    generated: sum(({ requests }) => requests),
    endings: endings.reduce((total, { cases }) => total + cases, 0),
    refused: count('refused') + sum(({ requests, accepted }) => requests - accepted),
    contained: count('contained') + sum(({ accepted }) => accepted) - broken,
    succeeded: count('succeeded') + broken,
    neighbour: {
      jobs: total('jobs'),
      requeues: total('requeues'),
      requeueLimit: total('requeueLimit'),
      failed: total('failed'),
      waits: neighbours.map(({ waits }) => waits),
      waitsAlone: neighbours.map(({ waitsAlone }) => waitsAlone),
    },
    versions,
  };
  const { attacks, refused, contained, succeeded } = figures;
  const text = `${attacks} attacks: ${refused} refused, ${contained} contained, ${succeeded} succeeded`;
  process.stdout.write(`${options.json ? JSON.stringify(figures) : text}\n`);
  const isWhole = options.only !== '' || options.every !== '1' || figures.generated >= LEAST_GENERATED;
  const { requeues, failed } = figures.neighbour;
  return succeeded === 0 && requeues === 0 && failed === 0 && isWhole ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    print(messageOf(error));
    process.exit(1);
  },
);
