import { FluxQueueValidation } from '../../../constructs/validation';
import { stackObjects } from '../manifests';
import { CHOICES, COUNT, stacks } from './matrix';

describe('the matrix of stacks', () => {
  const matrix = stacks(COUNT);

  test.each(Object.entries(CHOICES))('has every choice of %s', (prop, values) => {
    const chosen = matrix.map((props) => (props as Record<string, unknown>)[prop]);
    // The settings of pods depend on the components of the stack.
    for (const value of prop === 'pods' ? [undefined] : values) expect(chosen).toContain(value);
  });

  test('has the settings of every component', () => {
    const components = new Set(matrix.flatMap(({ pods = {} }) => Object.keys(pods)));
    expect([...components].sort()).toEqual([
      'backup',
      'controller',
      'database',
      'fluxion',
      'scheduler',
      'webhook',
    ]);
  });

  test.each(matrix.map((props, index) => [index, props] as const))(
    'stack %i passes the validation',
    async (_, props) => {
      const violations: unknown[] = [];
      await new FluxQueueValidation().validate({
        manifests: ['stack'],
        parseManifest: () => stackObjects(props),
        report: { addViolation: (violation) => violations.push(violation), submit: () => {} },
      });
      expect(violations).toEqual([]);
    },
  );
});
