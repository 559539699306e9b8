/** Tenants who do not trust each other: what one of them submits does not stop the queue for the others. */
import { describeStack, eachInFreshNamespace } from './suite';
import { Namespace } from './workloads';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A selector at every limit of constructs/api/pod-limits.ts; no node matches it. */
const LONGEST_SELECTOR = {
  affinity: {
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: times(50, (i) => ({
          matchExpressions: [
            { key: 'kubernetes.io/hostname', operator: 'Exists' },
            { key: `missing-${i}`, operator: 'Exists' },
            { key: 'kubernetes.io/hostname', operator: 'NotIn', values: times(7, (k) => `host-${i}-${k}`) },
            { key: 'size', operator: 'Gt', values: [`${i}`] },
          ],
        })),
      },
    },
  },
};

describeStack(
  'tenants',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    test('Jobs with the longest selectors and most dependencies do not stop the Jobs of another namespace', async () => {
      const attacker = await Namespace.create(getFixture, `${science.name}-attacker`);
      const after = times(100, (k) => `poison-${k}`).join(', ');
      await Promise.all(
        times(60, (i) =>
          attacker.job(`poison-${i}`, {
            podSpec: LONGEST_SELECTOR,
            annotations: i % 2 === 0 ? {} : { 'fluxqueue/after': after },
          }),
        ),
      );
      for (const name of ['canary-1', 'canary-2', 'canary-3'])
        await science.phase(await science.job(name), 'Finished');
      await attacker.shown('poison-0-job', 'Waiting', 'Unsatisfiable');
      const cyclic = await attacker.shown('poison-1-job', 'Waiting', 'DependencyPending');
      expect(cyclic.status!.conditions).toContainEqual(
        expect.objectContaining({ type: 'Stalled', message: expect.stringContaining('waits for itself') }),
      );
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
