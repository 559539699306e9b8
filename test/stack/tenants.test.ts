/** Tenants who do not trust each other: what one of them submits does not stop the queue for the others. */
import { namespaced } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
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

/** Two services that leave no node free. */
const MERGER = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'merger' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'merger' } },
    template: {
      metadata: { labels: { app: 'merger' } },
      spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '3' } } }] },
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

    test('who waits for nodes of another namespace reads no name of it, in FluxJob, Events and history', async () => {
      const { client, queue } = getFixture();
      const secret = await Namespace.create(getFixture, `${science.name}-secret`);
      await client.create(namespaced('apps', 'v1', 'deployments')(secret.name), MERGER);
      const pods = namespaced('', 'v1', 'pods')(secret.name);
      await waitFor('the services', async () => {
        const { items } = await client.list<Pod>(pods);
        return items.length === 2 && items.every(({ status }) => status?.phase === 'Running');
      });
      const gang = await secret.job('merger-gang', { pods: 2, cores: 4 });
      await secret.phase(gang, 'Waiting');
      const behind = await science.job('behind', { pods: 2, cores: 4 });
      const { status } = await science.shown('behind-job', 'Waiting', 'Busy');
      const { items } = await client.list(namespaced('', 'v1', 'events')(science.name));
      const history = await queue.history(behind.metadata.uid);
      const read = [status, items, history].map((each) => JSON.stringify(each));
      for (const text of read) expect(text).not.toMatch(/merger|-secret/);
      for (const text of [read[0], read[2]])
        expect(text).toContain('services leave their nodes (2 of other namespaces)');
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
