/** The examples of `kubectl wait` in docs/gitops.md, on objects of their names. */
import { readFileSync } from 'node:fs';
import { describeStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

/** The lines of the page, without their comments. */
const EXAMPLES = readFileSync('docs/gitops.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('kubectl wait '))
  .map((line) => line.replace(/\s*#.*/, ''));

describeStack(
  'kubectl wait',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    beforeAll(async () => {
      const { cluster } = getFixture().stack;
      const metadata = (name: string) => ({ name, namespace: science.name });
      const containers = [{ image: 'none', command: 'hostname' }];
      const pod = { annotations: { 'fluxqueue.test/duration': '1s' } };
      await cluster.create([
        {
          apiVersion: 'flux-framework.org/v1alpha1',
          kind: 'FluxSetup',
          metadata: metadata('default'),
          spec: {},
        },
        {
          apiVersion: 'flux-framework.org/v1alpha2',
          kind: 'MiniCluster',
          metadata: metadata('hello'),
          spec: { size: 2, containers, pod },
        },
      ]);
      await science.job('train', { runs: '2s' });
      // kubectl waits only for objects that exist.
      await cluster.waitFor('its FluxJob', () => science.fluxJob('train-job'));
    });

    test('the page has an example of each kind', () => {
      for (const kind of ['fs/', 'mc/', 'fj/', 'job/'])
        expect(EXAMPLES.some((line) => line.startsWith(`kubectl wait ${kind}`))).toBe(true);
    });

    test.each(EXAMPLES)('%s', async (line) => {
      const args = [...line.split(' ').slice(1), `--namespace=${science.name}`];
      const { code, stderr } = await getFixture().stack.cluster.kubectl(args);
      expect([code, stderr]).toEqual([0, '']);
    });
  },
  { cluster: { nodes: 2, nodeShape: { cpu: '8', memory: '64Gi' } } },
);
