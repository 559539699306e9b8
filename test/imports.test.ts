/**
 * The tower: which room may import which. A room is a folder, or a file that stands alone directly in `runtime/`
 * or `constructs/`. CONTRIBUTING.md has the tower as a picture.
 */
import { dirname } from 'node:path';
import { circlesIn, graphOf, type Import, importsOf } from './import-graph';

/**
 * From the ground up: a room imports only rooms of lines above its own, and of those only what it names.
 * `ground` stands for the files and folders that every room of the runtime may import.
 */
const GROUND = [
  'runtime/errors',
  'runtime/clock',
  'runtime/columns',
  'runtime/node-version',
  'runtime/signal',
  'runtime/observability',
  'runtime/resources',
  'constructs/api',
];
const TOWER: Readonly<Record<string, readonly string[]>> = {
  'constructs/api': [],
  'constructs/image-digests.json': [],
  'constructs/images': ['constructs/image-digests.json'],
  'constructs/metadata': [],
  'constructs/lazy': [],
  'constructs/kube-object': ['constructs/api'],
  'constructs/crds': [],
  'constructs/minicluster/shell': [],
  'constructs/fluxsetup': ['constructs/api', 'constructs/kube-object'],
  'constructs/minicluster': ['constructs/api', 'constructs/images', 'constructs/fluxsetup'],
  'constructs/fluxqueue/admission': ['constructs/api', 'constructs/metadata'],
  'constructs/validation': ['constructs/api', 'constructs/fluxsetup', 'constructs/minicluster'],
  'constructs/fluxqueue/pods': [
    'constructs/api',
    'constructs/images',
    'constructs/metadata',
    'constructs/lazy',
    'constructs/validation',
  ],
  'constructs/fluxqueue': [
    'constructs/api',
    'constructs/images',
    'constructs/metadata',
    'constructs/lazy',
    'constructs/kube-object',
    'constructs/fluxsetup',
    'constructs/fluxqueue/admission',
    'constructs/fluxqueue/pods',
  ],
  'constructs/gitops': ['constructs/api'],
  'constructs/index': [
    'constructs/fluxqueue',
    'constructs/gitops',
    'constructs/minicluster',
    'constructs/validation',
  ],

  'runtime/errors': ['constructs/api'],
  'runtime/clock': [],
  'runtime/columns': [],
  'runtime/signal': [],
  'runtime/node-version': ['runtime/errors'],
  'runtime/observability': ['runtime/errors'],
  'runtime/resources': ['runtime/errors'],
  'runtime/kubernetes': ['ground'],
  'runtime/jobspec': ['ground'],
  'runtime/fluxion/generated': [],
  'runtime/fluxion/jgf': ['ground'],
  'runtime/fluxion': ['ground', 'runtime/jobspec', 'runtime/fluxion/generated', 'runtime/fluxion/jgf'],
  'runtime/fluxion/matcher': ['ground', 'runtime/jobspec', 'runtime/fluxion', 'runtime/fluxion/jgf'],
  'runtime/fluxion/library': [
    'ground',
    'runtime/jobspec',
    'runtime/fluxion',
    'runtime/fluxion/jgf',
    'runtime/fluxion/matcher',
  ],
  'runtime/fluxion/client': [
    'ground',
    'runtime/jobspec',
    'runtime/fluxion',
    'runtime/fluxion/generated',
    'runtime/fluxion/jgf',
    'runtime/fluxion/matcher',
  ],
  'runtime/fluxion/server': [
    'ground',
    'runtime/jobspec',
    'runtime/fluxion',
    'runtime/fluxion/generated',
    'runtime/fluxion/library',
    'runtime/fluxion/matcher',
  ],
  'runtime/queue/migrations': [],
  'runtime/queue': ['ground', 'runtime/jobspec', 'runtime/queue/migrations'],
  'runtime/report-settings': [],
  'runtime/database-settings': [],
  'runtime/config': [
    'ground',
    'runtime/database-settings',
    'runtime/fluxion',
    'runtime/queue',
    'runtime/report-settings',
  ],
  // What all areas of a term share: it knows none of them.
  'runtime/shared': [
    'ground',
    'runtime/config',
    'runtime/fluxion',
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/queue',
  ],
  'runtime/scheduler/pass': ['ground', 'runtime/jobspec', 'runtime/fluxion', 'runtime/queue'],
  'runtime/scheduler': [
    'ground',
    'runtime/jobspec',
    'runtime/fluxion',
    // Plans are made on a matcher of this process.
    'runtime/fluxion/matcher',
    'runtime/kubernetes',
    'runtime/queue',
    'runtime/scheduler/pass',
    'runtime/shared',
  ],
  'runtime/workloads': [
    'ground',
    'runtime/config',
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/queue',
    'runtime/scheduler/pass',
    'runtime/shared',
  ],
  'runtime/admission': ['ground', 'runtime/jobspec', 'runtime/kubernetes', 'runtime/workloads'],
  'runtime/fluxjobs': [
    'ground',
    'runtime/kubernetes',
    'runtime/queue',
    'runtime/scheduler/pass',
    'runtime/shared',
    'runtime/workloads',
  ],
  'runtime/dashboard': ['ground', 'runtime/fluxjobs', 'runtime/jobspec', 'runtime/kubernetes'],
  // Runs in the browser: of the server it knows the messages.
  'runtime/dashboard/browser': ['runtime/dashboard'],
  'runtime/fluxsetups': [
    'ground',
    'runtime/config',
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/queue',
    'runtime/scheduler/pass',
    'runtime/shared',
    'runtime/workloads',
  ],
  'runtime/simulation': [
    'ground',
    'runtime/config',
    'runtime/jobspec',
    'runtime/fluxion',
    'runtime/fluxion/matcher',
    'runtime/fluxsetups',
    'runtime/queue',
    'runtime/scheduler/pass',
  ],
  'runtime/miniclusters': [
    'ground',
    'constructs/minicluster',
    // Certificates.
    'runtime/admission',
    'runtime/fluxjobs',
    'runtime/kubernetes',
    'runtime/queue',
    'runtime/report-settings',
    'runtime/shared',
    'runtime/workloads',
  ],
  'runtime/leader': [
    'ground',
    'runtime/config',
    'runtime/fluxjobs',
    'runtime/fluxsetups',
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/miniclusters',
    'runtime/queue',
    'runtime/scheduler',
    'runtime/shared',
    'runtime/workloads',
  ],
  'runtime/cli/doctor': [
    'ground',
    'constructs/crds',
    'runtime/fluxjobs',
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/leader',
    'runtime/workloads',
  ],
  'runtime/cli': [
    'ground',
    'constructs/minicluster',
    'runtime/admission',
    'runtime/config',
    'runtime/dashboard',
    'runtime/fluxjobs',
    // What pods request.
    'runtime/jobspec',
    'runtime/kubernetes',
    'runtime/miniclusters',
    'runtime/queue',
    'runtime/simulation',
    'runtime/cli/doctor',
  ],
  'runtime/roles': [
    'ground',
    'runtime/admission',
    'runtime/config',
    'runtime/fluxion',
    'runtime/fluxion/client',
    'runtime/fluxion/matcher',
    'runtime/fluxion/server',
    'runtime/kubernetes',
    'runtime/leader',
    'runtime/queue',
  ],
  'runtime/main': ['ground', 'runtime/cli', 'runtime/config', 'runtime/roles'],
  'runtime/bundle': [],
  'runtime/package': ['runtime/bundle'],
  'runtime/krew': ['runtime/bundle'],
  'runtime/images': ['ground', 'constructs/images'],
  'runtime/image-digests': ['ground', 'constructs/images'],
  'runtime/helm': ['constructs/images', 'constructs/fluxqueue'],
};

const constructs = importsOf('constructs');
const runtime = importsOf('runtime');
const internal = [...constructs, ...runtime].filter(({ target }) => /^(constructs|runtime)\//.test(target));

/** The room of a file: its folder; a file directly in `runtime/` or `constructs/` is a room by itself. */
function roomOf(file: string): string {
  const folder = dirname(file);
  return folder.includes('/') ? folder : file.replace(/\.ts$/, '');
}

/** Rooms that a room may import: what its line names, with `ground` written out. */
function allowed(room: string): readonly string[] {
  return (TOWER[room] ?? []).flatMap((name) => (name === 'ground' ? GROUND : [name]));
}

const offenders = (imports: readonly Import[], isWrong: (entry: Import) => boolean) =>
  imports.filter(isWrong).map(({ file, target }) => `${file} imports ${target}`);

test('the check sees imports', () => {
  expect(runtime.length).toBeGreaterThan(100);
  expect(runtime.some(({ target }) => target === 'pg')).toBe(true);
});

test('every room has a line in the tower, and every line a room', () => {
  const rooms = new Set([...constructs, ...runtime].map(({ file }) => roomOf(file)));
  for (const { target } of internal) rooms.add(roomOf(target));
  expect([...rooms].filter((room) => TOWER[room] === undefined)).toEqual([]);
  expect(
    Object.keys(TOWER)
      .flatMap(allowed)
      .filter((room) => TOWER[room] === undefined),
  ).toEqual([]);
});

test('a line of the tower names only rooms below it', () => {
  const lines = Object.keys(TOWER);
  const upward = lines.flatMap((room, line) =>
    allowed(room)
      .filter((below) => lines.indexOf(below) >= line)
      .map((below) => `${room} names ${below}`),
  );
  expect(upward).toEqual([]);
});

test('a room imports only the rooms that its line names', () => {
  expect(
    offenders(internal, ({ file, target }) => {
      const [from, to] = [roomOf(file), roomOf(target)];
      return from !== to && !allowed(from).includes(to);
    }),
  ).toEqual([]);
});

test('no file imports itself through others', () => {
  expect(circlesIn(graphOf(internal.map(({ file, target }) => [file, target])))).toEqual([]);
});

test('no room imports itself through others', () => {
  expect(circlesIn(graphOf(internal.map(({ file, target }) => [roomOf(file), roomOf(target)])))).toEqual([]);
});

test('a circle is found', () => {
  expect(
    circlesIn(
      graphOf([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'b'],
        ['d', 'a'],
      ]),
    ),
  ).toEqual(['b -> c -> b']);
});

test('the runtime takes types from imports/, no code', () => {
  expect(offenders(runtime, ({ target, typeOnly }) => target.startsWith('imports') && !typeOnly)).toEqual([]);
});

test.each([
  ['@kubernetes/client-node', 'runtime/kubernetes/'],
  ['pg', 'runtime/queue/'],
  ['@grpc/grpc-js', 'runtime/fluxion/'],
])('only one folder imports %s', (name, folder) => {
  const uses = ({ target }: Import) => target === name || target.startsWith(`${name}/`);
  expect(runtime.some(uses)).toBe(true);
  expect(offenders(runtime, (entry) => uses(entry) && !entry.file.startsWith(folder))).toEqual([]);
});

test('resources, jobspec and the scheduling pass do no I/O', () => {
  const io =
    /^node:(?!crypto|util)|^(pg|pino|prom-client|@kubernetes|@grpc)|^runtime\/(kubernetes|observability|leader|queue\/(?!workload|settings))/;
  const pure = runtime.filter(({ file }) => /^runtime\/(resources|jobspec|scheduler\/pass)\//.test(file));
  expect(pure.length).toBeGreaterThan(20);
  expect(offenders(pure, ({ target, typeOnly }) => io.test(target) && !typeOnly)).toEqual([]);
});
