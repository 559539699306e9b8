import { guardOf } from '../../constructs/fluxqueue/admission/guard-parts';

const part = (name: string, when: string) => ({
  name,
  when,
  problem: `problem of ${name}`,
  variables: [{ name: `${name}Variable`, expression: name }],
});

describe('a guard with several parts', () => {
  const { matchConditions, variables, validations } = guardOf([
    part('a', 'x'),
    part('b', 'x'),
    part('c', 'y'),
  ]);

  it('evaluates each condition once for requests without a problem', () => {
    expect(matchConditions).toEqual([{ name: 'applies', expression: '(x) || (y)' }]);
  });

  it('judges each part only where its condition holds, after what it needs', () => {
    expect(variables!.map(({ name }) => name)).toEqual([
      'aVariable',
      'bVariable',
      'cVariable',
      'a',
      'b',
      'c',
      'problem',
    ]);
    expect(variables).toContainEqual({ name: 'c', expression: '(y) ? (problem of c) : ""' });
  });

  it('has one message, of the first part with a problem', () => {
    expect(variables!.at(-1)!.expression).toBe(
      'variables.a != "" ? variables.a : variables.b != "" ? variables.b : variables.c != "" ? variables.c : ""',
    );
    expect(validations).toEqual([
      { expression: 'variables.problem == ""', messageExpression: 'variables.problem' },
    ]);
  });
});
