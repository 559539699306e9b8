/**
 * The tower: which room may import which. A room is a folder, or a file that stands alone directly in `runtime/`
 * or `constructs/`; `release/` is one room. CONTRIBUTING.md has the tower as a picture.
 */
import { dirname } from 'node:path';
import { circlesIn, graphOf, type Import, importsOf } from './import-graph';
import { GROUND, TOWER } from './tower';

const constructs = importsOf('constructs');
const runtime = importsOf('runtime');
const release = importsOf('release');
const sources = [...constructs, ...runtime, ...release];
const internal = sources.filter(({ target }) => /^(constructs|runtime|release)\//.test(target));

/** The room of a file: its folder; a file directly in `runtime/` or `constructs/` is a room by itself. */
function roomOf(file: string): string {
  const folder = dirname(file);
  return folder.includes('/') || folder === 'release' ? folder : file.replace(/\.ts$/, '');
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
  const rooms = new Set(sources.map(({ file }) => roomOf(file)));
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
