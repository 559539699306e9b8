/** The compiler compares a table of rules with its interface: `npm run types` fails where a line below does not fail to compile. */
import { Duration } from 'cdk8s';
import {
  checkByRules,
  group,
  type PropRules,
  type Rule,
  required,
  rule,
} from '../../../constructs/api/prop-rules';
import { duration, flag, listOf, number, text } from '../../../constructs/api/rules';

interface Props {
  readonly name: string;
  readonly wait?: Duration;
  readonly sizes?: readonly number[];
}
type Table = PropRules<Props>;

const RIGHT: Table = { name: required(text), wait: duration, sizes: listOf(number) };
const bySchema = rule('schema', () => []);

// @ts-expect-error every prop needs a rule
export const missing: Table = { name: required(text), wait: duration };
// @ts-expect-error a prop without default is required
export const optional: Table = { ...RIGHT, name: text };
// @ts-expect-error a Duration has methods that a construct calls
export const unlike: Table = { ...RIGHT, wait: text };
// @ts-expect-error a list is no flag
export const flagged: Table = { ...RIGHT, sizes: flag };
// @ts-expect-error an object would be read without its members
export const grouped: PropRules<{ readonly group?: Props }> = { group: text };
// @ts-expect-error the schema of a resource has no Durations
export const unchecked: PropRules<Props, Rule<'schema'>> = { ...RIGHT, wait: bySchema };

const check = (props: object) => () => checkByRules('Thing', props as Props, RIGHT);

test('a table tells the first mistake, those of given values before those of names and missing ones', () => {
  expect(check({ waits: 1, sizes: [1, '2'] })).toThrow(
    'Thing.sizes[1]: must be a number (got "2"); give a number',
  );
  expect(check({ waits: 1 })).toThrow('Thing.waits: is not a prop (got 1); did you mean wait');
  expect(check({ wait: Duration.hours(1) })).toThrow('Thing.name: is required; give a text');
  expect(check({ name: 'a', wait: undefined })).not.toThrow();
});

test('an instance of a class of the user can have the props, and no other object of a class', () => {
  class Own {
    readonly name = 'a';
  }
  expect(check(new Own())).not.toThrow();
  expect(group(RIGHT)(new Own())).toEqual([]);
  for (const value of [new Date(0), new Map(), Duration.hours(1), () => undefined, [], 'a', null])
    expect(check(value as object)).toThrow(/^FLUXQ_PROPS_INVALID: Thing/);
});
