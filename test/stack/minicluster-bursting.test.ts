/** The example of two MiniClusters that are one Flux instance, in one control plane; test/boot/bursting.test.ts boots it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { MiniCluster } from '../../runtime/miniclusters/resource';
import { waitFor } from '../cluster/wait';
import type { MiniClusters } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import { describeStack } from './suite';

const FILE = join(__dirname, '../../examples/minicluster/two-clusters.yaml');
const [MAIN, MORE] = parseAllDocuments(readFileSync(FILE, 'utf8')).map(
  (document) => (document.toJS() as MiniCluster).spec,
);

describeStack(
  'two MiniClusters that are one Flux instance',
  (getFixture) => {
    let clusters: MiniClusters;
    useMiniClusters(getFixture, (given) => {
      ({ clusters } = given);
    });

    const secrets = async () => (await clusters.list('Secret')).map(({ metadata }) => metadata.name);

    test('the second one runs with the certificate of the first, which it leaves behind', async () => {
      await clusters.create('main', MAIN);
      await clusters.phase('main', 'Running');
      await clusters.create('more', MORE);
      await clusters.phase('more', 'Running');
      const [pod] = await clusters.running('more', 4);
      expect(JSON.stringify(pod!.spec)).toContain('"secretName":"main-curve"');
      expect(await secrets()).toContain('main-curve');
      expect(await secrets()).not.toContain('more-curve');
      await clusters.delete('more');
      await waitFor('its end', async () => (await clusters.get('more')) === undefined);
      expect((await clusters.get('main'))!.status!.phase).toBe('Running');
      expect(await secrets()).toContain('main-curve');
    });
  },
  { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
);
