/** The bundled program with its output in a pipe: all of it arrives however slowly it is read, and a reader may go away. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { Command } from 'commander';
import { bundleRuntime } from '../../release/bundle';
import { addCommands } from '../../runtime/cli/commands';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { READ_API } from '../../runtime/reader/kinds';
import { drawOf } from '../seed';
import { fluxJob } from './fluxjobs';
import { PlayedReadApi } from './played-read-api';

const MIB = 2 ** 20;
/** Command lines of each day; all of them with NIGHTLY=1. */
const DRAWN = 5;
/** More than a pipe takes that nobody reads, by far. */
const LENGTH = 10 * MIB;
const LONG = 'x'.repeat(LENGTH);
/** So many objects with a word of this length are as long together. */
const MANY = 200;
const WORD = 'x'.repeat(LENGTH / MANY);
const NAMES = Array.from({ length: MANY }, (_, i) => `n${i}-${WORD}`);

const TIME = '2026-11-23T09:00:00.000Z';
const answered = { apiVersion: READ_API, metadata: {}, unitSizes: { cpuMillis: 1_000, memoryMiB: 1_024 } };
const report = (name: string) => ({
  ...answered,
  metadata: { name },
  units: { core: 1 },
  used: {},
  reserved: {},
  unmanaged: {},
  free: { core: 1 },
  drift: [],
});
const planned = (name: string) => ({
  namespace: 'science',
  name,
  kind: 'Job',
  queue: 'default',
  state: 'Running',
  start: TIME,
  end: TIME,
  nodes: [],
});
const line = (queue: string) => ({
  queue,
  user: 'ada',
  jobs: 1,
  pods: 1,
  cpuHours: 1,
  memoryGiBHours: 1,
  gpuHours: 0,
});
const entry = (uid: string) => ({
  at: TIME,
  uid,
  kind: 'Job',
  event: 'Submitted',
  actor: 'ada',
  message: '',
});
const graphNode = (name: string) => ({ name, up: true, total: {}, free: {}, properties: [] });
const SPEC = { object: { kind: 'Job' } };

/** What the played apiserver answers, by the end of the path. */
const ANSWERS: Readonly<Record<string, object>> = {
  plans: { ...answered, now: TIME, unplanned: 0, jobs: NAMES.map(planned) },
  histories: { ...answered, entries: NAMES.map(entry) },
  usages: { ...answered, from: TIME, until: TIME, lines: NAMES.map(line), shares: [] },
  nodereports: { ...answered, items: NAMES.map(report) },
  resourcegraphs: { ...answered, bootId: 'b', nodes: NAMES.map(graphNode) },
  traces: { ...answered, swf: `${LONG}\n` },
  whatifs: { ...answered, spec: SPEC, status: { nodes: [], message: LONG, delays: [] } },
  jobs: { items: [] },
  pods: { items: [] },
  namespaces: { items: NAMES.map((name) => ({ metadata: { name } })) },
};

const finished = (name: string, message: string): FluxJobObject =>
  fluxJob(name, {
    phase: 'Finished' as never,
    result: 'Failed' as never,
    conditions: [
      { type: 'Scheduled', status: 'True' as never, reason: 'Failed', message, lastTransitionTime: '' },
    ],
  });

function answer(path: string): object {
  if (path.endsWith('/fluxjobs')) {
    const items = NAMES.map((queue, i) =>
      fluxJob(`j${i}`, { phase: 'Running' as never, nodes: queue }, { queue }),
    );
    return { items: [...items, finished('failed', LONG)] };
  }
  if (path.endsWith('/fluxjobs/failed-job')) return finished('failed', LONG);
  const known = Object.keys(ANSWERS).find((kind) => path.split('/').includes(kind));
  if (known === undefined) throw new Error(`nothing is played for ${path}`);
  return ANSWERS[known]!;
}

const MINICLUSTERS = NAMES.map(
  (name, i) =>
    `---\napiVersion: flux-framework.org/v1alpha2\nkind: MiniCluster\nmetadata: { name: m${i} }\nspec:\n  size: 1\n  containers:\n    - { image: ubuntu, command: "echo ${name}" }\n`,
).join('');
const JOB = 'apiVersion: batch/v1\nkind: Job\nmetadata: { name: train }\n';

/** Command lines whose output has no bound, by command. */
const UNBOUNDED: Readonly<Record<string, readonly string[]>> = {
  queue: ['queue', 'queue -o json'],
  top: ['top --by queue'],
  why: ['why failed'],
  plan: ['plan -o json'],
  whatif: ['whatif -f FILE'],
  history: ['history train'],
  usage: ['usage'],
  nodes: ['nodes'],
  graph: ['graph -o json'],
  trace: ['trace'],
  render: ['render MINICLUSTERS'],
  __complete: ['__complete -- top --namespace '],
};

/** Commands that print some lines about a thing that is named, those that print nothing, and the roles. */
const BOUNDED = [
  ...['when', 'hold', 'release', 'requeue', 'cancel', 'priority', 'mc', 'drain', 'doctor', 'uninstall'],
  ...['dashboard', 'simulate', 'completion', 'up'],
  ...['migrate', 'store-backup', 'password', 'keygen'],
];

test('this file knows of each command how much it prints', () => {
  const program = new Command();
  addCommands(program);
  const names = program.commands.map((command) => command.name());
  expect([...Object.keys(UNBOUNDED), ...BOUNDED].sort()).toEqual(names.sort());
});

describe('ten MiB in a pipe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-pipes-'));
  const bundle = join(folder, 'runtime.js');
  const api = new PlayedReadApi();
  beforeAll(async () => {
    bundleRuntime(bundle);
    writeFileSync(join(folder, 'job.yaml'), JOB);
    writeFileSync(join(folder, 'miniclusters.yaml'), MINICLUSTERS);
    api.answer = ({ path }) => ({ body: answer(path) });
    await api.start();
  });
  afterAll(() => {
    api.stop();
    rmSync(folder, { recursive: true });
  });

  function start(line: string): ChildProcessWithoutNullStreams {
    const files: Readonly<Record<string, string>> = {
      FILE: join(folder, 'job.yaml'),
      MINICLUSTERS: join(folder, 'miniclusters.yaml'),
    };
    return spawn(process.execPath, [bundle, ...line.split(' ').map((word) => files[word] ?? word)], {
      // Jest has an environment of its own.
      env: process.env,
    });
  }

  /** Notes of `render` are for its user, whatever reads its manifests. */
  const saidOf = (line: string) => (line.startsWith('render') ? (expect.any(String) as string) : '');
  const lines = drawOf(Object.values(UNBOUNDED).flat(), DRAWN);

  test.each(lines)('fluxqueue %s arrives as a whole at a slow reader', async (line) => {
    const child = start(line);
    const [errors, ended] = [text(child.stderr), once(child, 'exit')];
    let length = 0;
    let last = '';
    for await (const part of child.stdout as AsyncIterable<Buffer>) {
      length += part.length;
      last = part.toString('utf8');
      // The reader has something else to do between two parts.
      await setImmediate();
    }
    expect([await errors, await ended]).toEqual([saidOf(line), [0, null]]);
    expect(length).toBeGreaterThan(LENGTH);
    expect(last).toMatch(/\n$/);
  });

  test.each(lines)(
    'fluxqueue %s ends like other programs, without a word, when its reader goes',
    async (line) => {
      const child = start(line);
      const [errors, ended] = [text(child.stderr), once(child, 'exit')];
      for await (const _ of child.stdout) break;
      expect([await errors, await ended]).toEqual([saidOf(line), [141, null]]);
    },
  );
});
