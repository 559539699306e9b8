import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(__dirname, '..');

interface Import {
  readonly file: string;
  /** A package, or a path from the root. */
  readonly target: string;
  readonly typeOnly: boolean;
}

function importsOf(folder: string): Import[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
  return files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)';/gm)].map(
      ([, type, name]) => ({
        file,
        target: name!.startsWith('.') ? relative(ROOT, join(ROOT, file, '..', name!)) : name!,
        typeOnly: type !== undefined,
      }),
    );
  });
}

const constructs = importsOf('constructs');
const runtime = importsOf('runtime');

const offenders = (imports: readonly Import[], isWrong: (entry: Import) => boolean) =>
  imports.filter(isWrong).map(({ file, target }) => `${file} imports ${target}`);

test('the check sees imports', () => {
  expect(runtime.length).toBeGreaterThan(100);
  expect(runtime.some(({ target }) => target === 'pg')).toBe(true);
});

test('constructs never import the runtime', () => {
  expect(offenders(constructs, ({ target }) => target.startsWith('runtime'))).toEqual([]);
});

test('the runtime imports of constructs the MiniCluster, the names and the list of images only', () => {
  const allowed = /^constructs\/(names$|fluxqueue\/images$|minicluster)/;
  expect(
    offenders(runtime, ({ target }) => target.startsWith('constructs') && !allowed.test(target)),
  ).toEqual([]);
});

test('the runtime takes types from imports/, no code', () => {
  expect(offenders(runtime, ({ target, typeOnly }) => target.startsWith('imports') && !typeOnly)).toEqual([]);
});

test.each([
  ['@kubernetes/client-node', 'runtime/kubernetes/'],
  ['pg', 'runtime/queue/'],
  ['@grpc/grpc-js', 'runtime/fluxion/'],
])('only one folder knows %s', (name, folder) => {
  const uses = ({ target }: Import) => target === name || target.startsWith(`${name}/`);
  expect(runtime.some(uses)).toBe(true);
  expect(offenders(runtime, (entry) => uses(entry) && !entry.file.startsWith(folder))).toEqual([]);
});

test('jobspec and scheduling do no I/O', () => {
  const io =
    /^node:(?!crypto|util)|^(pg|pino|prom-client|@kubernetes|@grpc)|^runtime\/(kubernetes|observability|controllers|queue\/(?!types))/;
  const pure = runtime.filter(({ file }) => /^runtime\/(jobspec|scheduling)\//.test(file));
  expect(offenders(pure, ({ target, typeOnly }) => io.test(target) && !typeOnly)).toEqual([]);
});
