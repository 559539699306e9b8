/**
 * The snippets of README and docs as programs: word by word, with the imports and the few objects that their text takes for granted,
 * such as the chart and the claim of a volume.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import * as cdk8s from 'cdk8s';
import * as plus from 'cdk8s-plus-28';
import { parseAllDocuments } from 'yaml';
import * as constructs from '../../constructs';
import type { KubeObject } from '../cluster/api';

const ROOT = join(__dirname, '../..');
/** Beside the packages, so that the compiler finds them. */
const CACHE = join(ROOT, 'node_modules/.cache/cdk8s-fluxqueue');

export interface Snippet {
  /** Document and line, for the name of a test. */
  readonly place: string;
  readonly text: string;
}

const BLOCK = /^( *)```(\w+)\n(.*?)^\1```$/gms;

/** All blocks of a language in README and docs. */
export function snippets(language: string): readonly Snippet[] {
  return globSync('{README.md,docs/*.md}', { cwd: ROOT })
    .sort()
    .flatMap((document) => {
      const page = readFileSync(join(ROOT, document), 'utf8');
      return [...page.matchAll(BLOCK)]
        .filter(([, , is]) => is === language)
        .map(({ index, 3: text = '' }) => ({
          place: `${document}:${page.slice(0, index).split('\n').length}`,
          text,
        }));
    });
}

const PACKAGES: Readonly<Record<string, object>> = {
  cdk8s,
  'cdk8s-plus-28': plus,
  'cdk8s-fluxqueue': constructs,
};

/** What a snippet may use although it does not make it, in the order in which one needs the other. */
const given = (namespace: string): Readonly<Record<string, string>> => ({
  app: 'new App()',
  chart: `new Chart(app, 'chart', { namespace: '${namespace}' })`,
  night: "new FluxSetup(chart, 'night', {})",
  claim: "PersistentVolumeClaim.fromClaimName(chart, 'claim', 'data')",
  secret: "Secret.fromSecretName(chart, 'secret', 'token')",
  repository: "'https://git.example.com/teams.git'",
});

const isIn = (text: string, name: string) => new RegExp(`(?<![\\w.'"])${name}(?![\\w'"])`).test(text);

/**
 * The whole program of a snippet, which exports its app.
 * @param namespace of the chart that the text takes for granted
 */
export function programOf({ text }: Snippet, namespace = 'science'): string {
  const declares = (name: string) => new RegExp(`^(const|let) ${name}\\b`, 'm').test(text);
  let body = text;
  const declared: string[] = [];
  for (const [name, value] of Object.entries(given(namespace)).reverse())
    if ((name === 'app' || isIn(body, name)) && !declares(name)) {
      declared.unshift(`const ${name} = ${value};`);
      body = `${value};\n${body}`;
    }
  const imports = Object.entries(PACKAGES).flatMap(([name, exports]) => {
    const names = Object.keys(exports).filter(
      (each) => isIn(body, each) && !new RegExp(`^import .*\\b${each}\\b`, 'm').test(text),
    );
    return names.length === 0 ? [] : [`import { ${names.join(', ')} } from '${name}';`];
  });
  const own = text.match(/^import .*$/gm) ?? [];
  const rest = text.replaceAll(/^import .*$/gm, '');
  return [...imports, ...own, ...declared, rest, 'export { app };', ''].join('\n');
}

/** What TypeScript says of the programs. */
export function compile(programs: readonly string[]): string {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'snippets-'));
  try {
    for (const [index, program] of programs.entries()) writeFileSync(join(folder, `${index}.ts`), program);
    const options = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: true,
        rootDir: ROOT,
        noUnusedLocals: false,
        paths: { 'cdk8s-fluxqueue': [join(ROOT, 'constructs/index.ts')] },
      },
      include: ['*.ts'],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout ?? error);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program in a folder of its own, and returns what its app synthesizes. */
export function synthesize(program: string): readonly KubeObject[] {
  const { code } = transformSync(program, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'commonjs' },
  });
  const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-snippet-'));
  const before = process.env.CDK8S_OUTDIR;
  process.env.CDK8S_OUTDIR = outdir;
  try {
    const exports: { app?: cdk8s.App } = {};
    new Function('require', 'exports', code)((name: string) => PACKAGES[name], exports);
    return exports.app!.charts.flatMap((chart) => chart.toJson() as KubeObject[]);
  } finally {
    if (before === undefined) delete process.env.CDK8S_OUTDIR;
    else process.env.CDK8S_OUTDIR = before;
    rmSync(outdir, { recursive: true });
  }
}

/** The documents of YAML snippets, and of those that a shell gives to kubectl. */
export function yamlDocuments(): readonly { readonly place: string; readonly document: unknown }[] {
  const heredocs = snippets('sh').flatMap(({ place, text }) =>
    [...text.matchAll(/<<'?YAML'?\n(.*?)^YAML$/gms)].map(([, inner = '']) => ({ place, text: inner })),
  );
  return [...snippets('yaml'), ...heredocs].flatMap(({ place, text }) =>
    parseAllDocuments(text).map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return { place, document: document.toJS() as unknown };
    }),
  );
}
