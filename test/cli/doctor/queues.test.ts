import { fluxSetupFindings, withoutQueue } from '../../../runtime/cli/doctor/queues';
import { ago, metadata, NOW } from './objects';

const setup = (status: object | undefined, seconds = 61, generation = 2) => ({
  metadata: metadata('main', { creationTimestamp: ago(seconds), generation }),
  status: status as never,
});

test('a FluxSetup that is in service is no finding', () => {
  const status = { observedGeneration: 2, conditions: [{ type: 'Ready', status: 'True' }] };
  expect(fluxSetupFindings(setup(status), NOW)).toEqual([]);
});

test('a FluxSetup that is not in service says why', () => {
  const conditions = [{ type: 'Ready', status: 'False', message: 'the name of its queue is taken' }];
  expect(fluxSetupFindings(setup({ observedGeneration: 2, conditions }), NOW)).toEqual([
    {
      level: 'error',
      message: 'FluxSetup fluxqueue-system/main is not in service: the name of its queue is taken',
      remedy: 'correct its spec as the sentence says',
    },
  ]);
});

test('a FluxSetup that nobody judged is a warning after a minute', () => {
  expect(fluxSetupFindings(setup(undefined, 59), NOW)).toEqual([]);
  expect(fluxSetupFindings(setup({ observedGeneration: 1 }), NOW)).toMatchObject([
    { level: 'warning', message: 'no controller has judged FluxSetup fluxqueue-system/main as it is now' },
  ]);
});

test('namespaces without a queue are named', () => {
  expect(withoutQueue([])).toEqual([]);
  expect(withoutQueue(['a', 'b', 'c', 'd', 'e'])[0]!.message).toMatch(/wait: a, b, c and 2 more$/);
});
