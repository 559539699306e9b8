/** Paths, links, source files, npm scripts and commands that the documents name exist. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'test/*/README.md',
  'docs/**/*.md',
].flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
/** Top-level folders that are committed. */
const FOLDERS = 'bin|constructs|dist|docs|examples|imports|release|runtime|test';

/** What a pattern finds in each document, as `document: finding`, without the findings that exist. */
function missing(pattern: RegExp, exists: (name: string, document: string) => boolean): string[] {
  return DOCUMENTS.flatMap((document) =>
    [...readFileSync(join(ROOT, document), 'utf8').matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => !exists(name, document))
      .map((name) => `${document}: ${name}`),
  );
}

const found = (path: string) =>
  path.includes('*') ? globSync(path, { cwd: ROOT }).length > 0 : existsSync(join(ROOT, path));

test('the check reads every document', () => {
  expect(DOCUMENTS).toEqual(
    expect.arrayContaining([
      'README.md',
      'CHANGELOG.md',
      'docs/errors.md',
      'docs/decisions/0002-toolchain.md',
    ]),
  );
});

test('every link of a document leads to a file', () => {
  expect(
    missing(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g, (path, document) => found(join(dirname(document), path))),
  ).toEqual([]);
});

test('every repository path that a document names exists', () => {
  const path = new RegExp(`(?<![\\w./@:-])((?:${FOLDERS})/[\\w./*-]*[\\w*])`, 'g');
  expect(missing(path, found)).toEqual([]);
});

test('every source file that a document names by its last part exists', () => {
  const files = globSync('{constructs,runtime,release,test,examples,imports}/**/*.{ts,proto}', { cwd: ROOT });
  expect(
    missing(/`([\w./-]+\.(?:ts|proto))`/g, (name) => files.some((file) => `/${file}`.endsWith(`/${name}`))),
  ).toEqual([]);
});

test('every document that a source file names exists', () => {
  const files = globSync('{bin,constructs,examples,release,runtime,test}/**/*.{ts,sh,yaml,go}', {
    cwd: ROOT,
  });
  const named = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<![\w./])docs\/[\w./-]+\.md\b/g)].map(
      ([path]) => ({ file, path }),
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ path }) => !found(path))).toEqual([]);
});

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const exists = (name: string) => {
    const prefix = /^(.*)\*$/.exec(name)?.[1];
    return prefix === undefined
      ? name in scripts
      : Object.keys(scripts).some((each) => each.startsWith(prefix));
  };
  expect(missing(/\bnpm run (?:-s |--silent )?([\w:*-]+)/g, exists)).toEqual([]);
  expect(missing(/\bnpm (start|test)\b/g, exists)).toEqual([]);
});

test('every command of the program that a document names exists', () => {
  const help = execFileSync(process.execPath, ['--import', 'tsx', 'runtime/main.ts', '--help'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const commands = [...help.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name);
  expect(commands).toContain('controller');
  expect(missing(/(?:`|\$ |npx )fluxqueue ([a-z]+)/g, (name) => commands.includes(name))).toEqual([]);
});
