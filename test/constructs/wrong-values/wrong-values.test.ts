/**
 * Every prop of every construct and every argument of every factory with values that a program in JavaScript may give. The compiler says
 * which of them the declared types accept; each other one is refused with one PropsError that names its place, at synth.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { App, Chart, Duration, Size } from 'cdk8s';
import { Cpu, k8s, Secret } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import * as constructs from '../../../constructs';
import type { Place } from './declared';
import { ROOT_TYPES } from './root-types';
import { ROOTS, type Root } from './roots';
import type { VALUE_TYPES } from './value-types';

const circle: { circle?: object } = {};
circle.circle = circle;

const VALUES: Readonly<Record<keyof typeof VALUE_TYPES, unknown>> = {
  null: null,
  empty: '',
  text: 'some text',
  number: 5,
  negative: -1.5,
  notANumber: Number.NaN,
  true: true,
  list: [],
  listOfNull: [null],
  object: {},
  secret: new Secret(new Chart(new App(), 'test'), 'secret', { stringData: { password: 'a secret text' } }),
  function: () => undefined,
  symbol: Symbol('symbol'),
  duration: Duration.hours(1),
  size: Size.gibibytes(1),
  cpu: Cpu.units(1),
  quantity: k8s.Quantity.fromString('1Mi'),
  date: new Date(0),
  circle,
};

const places = JSON.parse(
  execFileSync(process.execPath, ['--import', 'tsx', join(__dirname, 'declared.ts')], { encoding: 'utf8' }),
) as readonly Place[];

/** A copy in which a value stands at a path, within what is there already. */
function put(into: unknown, [first, ...rest]: Place['path'], value: unknown): unknown {
  if (first === undefined) return value;
  if (first === 0) return [put(Array.isArray(into) ? into[0] : undefined, rest, value)];
  const object = (into ?? {}) as Readonly<Record<string, unknown>>;
  return { ...object, [first]: put(object[first], rest, value) };
}

/** What comes of a call: its objects as text, or its error. */
function outcome({ call }: Root, given: unknown): { readonly made?: string; readonly error?: unknown } {
  try {
    return { made: JSON.stringify(call(given as Parameters<Root['call']>[0])) };
  } catch (error) {
    return { error };
  }
}

/** Why an error is not the one that a user should see; undefined if it is. */
function faultOf(error: unknown, root: string, name: string | number | undefined): string | undefined {
  if (!(error instanceof constructs.PropsError)) return `threw ${error}`;
  const [construct = ''] = root.split('.');
  if (error.field?.includes(construct) !== true) return `has the field ${error.field}`;
  if (name !== undefined && !error.message.includes(String(name)))
    return `does not name it: ${error.message}`;
  return /undefined|\[object|a secret text/.test(error.message)
    ? `is not clear: ${error.message}`
    : undefined;
}

/** A value of the right type may break another rule, and the error is about another place then. */
function faults(root: Root, given: unknown, place: Place, isRight: boolean): string | undefined {
  const { made, error } = outcome(root, given);
  const [, ...path] = place.path;
  const name = isRight ? undefined : path.findLast((part) => part !== 0 && part !== 'key');
  if (made === undefined) return faultOf(error, place.root, name);
  return isRight ? undefined : 'was accepted';
}

const shown = ({ root, path }: Place, value: string, fault: string) =>
  `${root} ${path.join('.')} = ${value}: ${fault}`;

describe.each(Object.entries(ROOTS))('%s', (name, root) => {
  const own = places.filter((place) => place.root === name);

  test('accepts its right arguments', () => {
    expect(outcome(root, root.right).error).toBe(undefined);
    expect(own.length).toBeGreaterThan(0);
  });

  test('refuses each value of a wrong type with a PropsError that names its place', () => {
    const found = own.flatMap((place) =>
      Object.entries(VALUES).flatMap(([kind, value]) => {
        const given = put(root.right, place.path, value);
        const fault = faults(root, given, place, place.accepted.includes(kind));
        return fault === undefined ? [] : [shown(place, kind, fault)];
      }),
    );
    expect(found).toEqual([]);
  });

  test('refuses each name that its type does not have', () => {
    const found = own
      .filter(({ isClosed }) => isClosed)
      .flatMap((place) => {
        const path = [...place.path, 'misspelled'];
        const fault = faults(root, put(root.right, path, 1), { ...place, path }, false);
        return fault === undefined ? [] : [shown(place, 'misspelled', fault)];
      });
    expect(found).toEqual([]);
  });

  test('takes undefined for a prop that is not given', () => {
    const found = own
      .filter(({ isClosed }) => isClosed)
      .flatMap((place) => {
        const right = valueAt(root.right, place.path);
        const [isGiven, isAbsent] = [{ ...undefinedIn(place, own), ...right }, right].map((value) => {
          const { made, error } = outcome(root, put(root.right, place.path, value));
          return made ?? String(error);
        });
        return isGiven === isAbsent ? [] : [shown(place, 'undefined', isGiven!.slice(0, 500))];
      });
    expect(found).toEqual([]);
  });
});

/** Every optional member of an object as undefined. */
function undefinedIn({ path }: Place, all: readonly Place[]): object {
  const isMember = (place: Place) =>
    place.isOptional &&
    place.path.length === path.length + 1 &&
    path.every((name, index) => name === place.path[index]);
  return Object.fromEntries(all.filter(isMember).map((place) => [place.path.at(-1), undefined]));
}

function valueAt(from: unknown, path: Place['path']): object {
  return path.reduce<object>(
    (value, name) => ((value as Record<string | number, unknown>)[name] ?? {}) as object,
    from as object,
  );
}

test('the table has every construct, and every factory with arguments, that the package exports', () => {
  const withoutArguments = ['WebhookCertificate.selfMade', 'Certificate.ofCluster'];
  const exported = Object.entries(constructs).flatMap(([name, value]) => {
    if (typeof value !== 'function' || !/^class\b/.test(String(value))) return [];
    const factories = Object.getOwnPropertyNames(value)
      .filter((each) => !['length', 'name', 'prototype'].includes(each))
      .map((each) => `${name}.${each}`);
    return [...(value.prototype instanceof Construct ? [name] : []), ...factories];
  });
  const known = [...Object.keys(ROOT_TYPES), ...withoutArguments];
  expect(exported.filter((each) => !known.includes(each))).toEqual([]);
});
