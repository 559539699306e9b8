/** docs/errors.md against the code: the codes that exist, and whether a retry can help. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

function textsOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
}

const texts = [
  'runtime',
  'release',
  'constructs',
  'test/cluster',
  'test/realpods',
  'examples/demo',
  'test/stack',
].flatMap(textsOf);
const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
/** The last column of each row by the code in its first one. */
const retries = new Map(
  [...page.matchAll(/^\| `(FLUXQ_\w+)` .*\| (.+?) *\|$/gm)].map(([, code = '', retry = '']) => [code, retry]),
);

/** The arguments of a call, from the offset of the first one to its closing parenthesis. */
function argumentsAt(text: string, from: number): string {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text.slice(from, at);
  }
  throw new Error(`a call has no end: ${text.slice(from, from + 80)}`);
}

/** Codes of errors that the code makes retryable, always or under a condition. */
function retryableCodes(): Set<string> {
  const codes = texts.flatMap((text) => [
    ...[...text.matchAll(/new FluxqError\(\s*'(FLUXQ_\w+)'/g)]
      .filter(({ index }) => /retryable(?!: false)/.test(argumentsAt(text, index + 'new FluxqError('.length)))
      .map(([, code = '']) => code),
    ...[...text.matchAll(/code: '(FLUXQ_\w+)',\s*retryable: (?!false)/g)].map(([, code = '']) => code),
  ]);
  return new Set(codes);
}

test('docs/errors.md lists exactly the codes in the source', () => {
  const made = new Set(texts.flatMap((text) => text.match(/FLUXQ_[A-Z][A-Z_]*[A-Z]/g) ?? []));
  expect([...retries.keys()].sort()).toEqual([...made].sort());
});

test('docs/errors.md says for each code whether a retry can help', () => {
  const documented = [...retries].filter(([, retry]) => retry !== 'no').map(([code]) => code);
  expect(documented.sort()).toEqual([...retryableCodes()].sort());
});
