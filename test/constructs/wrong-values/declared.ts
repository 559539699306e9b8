/**
 * What the types of this package declare: each prop of each construct and argument of each factory, with those of some values that the
 * compiler accepts there. A program of its own, because the compiler is a module that Jest cannot load: it prints JSON.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API, type Checker, SymbolFlags, type Type } from 'typescript/unstable/sync';
import { ROOT_TYPES } from './root-types';
import { VALUE_TYPES } from './value-types';

/** A place where a value can stand. */
export interface Place {
  readonly root: string;
  /** Names of props; 0 for an item of a list, `key` for an entry of a map. */
  readonly path: readonly (string | number)[];
  /** Whether it can be left out. */
  readonly isOptional: boolean;
  /** Whether an object in this place has only names that its type declares. */
  readonly isClosed: boolean;
  /** Names of the values that the compiler accepts. */
  readonly accepted: readonly string[];
}

const ROOT = join(__dirname, '../../..');
/** Beside the packages, so that the compiler finds them. */
const CACHE = join(ROOT, 'node_modules/.cache/cdk8s-fluxqueue');

const entries = (types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([name, type]) => `  '${name}': ${type};`);
const PROGRAM = [
  "import type { Cpu, k8s, Secret } from 'cdk8s-plus-28';",
  "import type { Duration, Size } from 'cdk8s';",
  "import type * as c from 'cdk8s-fluxqueue';",
  'export interface Values {',
  ...entries(VALUE_TYPES),
  '}',
  'export interface Roots {',
  ...entries(ROOT_TYPES),
  '}',
  'export declare const values: Values;',
  'export declare const roots: Roots;',
].join('\n');

class Places {
  readonly found: Place[] = [];
  private readonly values: readonly (readonly [string, Type])[];

  constructor(
    private readonly checker: Checker,
    values: Type,
  ) {
    this.values = this.members(values).map(({ name, type }) => [name, type]);
  }

  addRoot(root: string, type: Type): void {
    const seen = new Set<number>();
    for (const member of this.members(type)) this.add({ root, path: [member.name], ...member }, seen);
  }

  private add(
    place: Pick<Place, 'root' | 'path' | 'isOptional'> & { readonly type: Type },
    seen: Set<number>,
  ): void {
    const { root, path, isOptional, type } = place;
    const accepted = this.values.filter(([, value]) => this.checker.isTypeAssignableTo(value, type));
    const inner = this.parts(type).flatMap((part) => this.inside(part, seen));
    const isClosed = inner.length > 0 && inner.every(({ name }) => name !== 0 && name !== 'key');
    this.found.push({ root, path, isOptional, isClosed, accepted: accepted.map(([name]) => name) });
    for (const { name, ...member } of inner) this.add({ root, path: [...path, name], ...member }, seen);
  }

  private parts(type: Type): readonly Type[] {
    return type.isUnionType() ? type.getTypes() : [type];
  }

  /** The members of an object that a program writes as a literal, once for each type. */
  private inside(type: Type, seen: Set<number>) {
    if (!type.isObjectType() || ((type.getSymbol()?.flags ?? 0) & SymbolFlags.Class) !== 0) return [];
    const [index] = this.checker.getIndexInfosOfType(type);
    if (index !== undefined) {
      const name = this.checker.isArrayLikeType(type) ? 0 : 'key';
      return [{ name, type: index.valueType, isOptional: true }];
    }
    const members = this.members(type);
    const isReference = members.some(({ name }) => name === 'node' || name === 'namespaceLabels');
    if (seen.has(type.id) || isReference || type.getAliasSymbol()?.name === 'Reference') return [];
    seen.add(type.id);
    return members;
  }

  private members(type: Type) {
    return this.checker.getPropertiesOfType(type).map((symbol) => ({
      name: symbol.name as string | number,
      type: this.checker.getTypeOfSymbol(symbol)!,
      isOptional: (symbol.flags & SymbolFlags.Optional) !== 0,
    })) as { name: string; type: Type; isOptional: boolean }[];
  }
}

function declaredPlaces(): readonly Place[] {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'declared-'));
  const api = new API();
  try {
    const file = join(folder, 'program.ts');
    writeFileSync(file, PROGRAM);
    const paths = { 'cdk8s-fluxqueue': [join(ROOT, 'constructs/index.ts')] };
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { paths, rootDir: ROOT, noEmit: true, exactOptionalPropertyTypes: false },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, exclude: [] }));
    const snapshot = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] });
    const { checker, program } = snapshot.getProjects()[0]!;
    const wrong = program.getSemanticDiagnostics(file);
    if (wrong.length > 0) throw new Error(wrong.map(({ text }) => text).join('\n'));
    const typeOf = (name: string) =>
      checker.getTypeAtPosition(file, PROGRAM.indexOf(`const ${name}:`) + 'const '.length)!;
    const places = new Places(checker, typeOf('values'));
    for (const symbol of checker.getPropertiesOfType(typeOf('roots')))
      places.addRoot(symbol.name, checker.getTypeOfSymbol(symbol)!);
    return places.found;
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

if (require.main === module) process.stdout.write(JSON.stringify(declaredPlaces()));
