/** The example of two MiniClusters that are one Flux instance. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { MiniClusterResource } from '../../constructs/minicluster';
import { waitFor } from '../cluster/wait';
import { Pods } from './pods';
import { describeWithFlux, lines, manifests, WITH_FLUX } from './suite';

const FILE = join(__dirname, '../../examples/minicluster/two-clusters.yaml');
const resources = parseAllDocuments(readFileSync(FILE, 'utf8')).map(
  (document) => document.toJS() as MiniClusterResource,
);

/** The manifests of one of the two, with the Secret of `main` as the controller creates it. */
function objectsOf(name: string) {
  const { spec } = resources.find(({ metadata }) => metadata.name === name)!;
  const flux = { ...spec.flux, curveCertSecret: 'mc-curve' };
  return manifests({ ...spec, flux }, undefined, name);
}

describeWithFlux('with a real Flux', (boot) => {
  test('a job waits for the nodes of the second cluster, which come and go', async () => {
    const main = boot.boot(objectsOf('main'));
    const more = new Pods(objectsOf('more'), () => WITH_FLUX, boot.network, 8, [main]);
    try {
      const [lead] = await main.startAll();
      await waitFor('the nodes of main', async () => (await boot.nodesUp()) === 2);
      expect(lines(await boot.inLead('flux', 'run', '-N2', 'hostname'))).toEqual(['main-0', 'main-1']);
      // Fluxion 0.54 refuses more nodes than are up, but lets tasks wait for nodes that are down.
      const wide = await boot.inLead('flux', 'submit', '-n12', 'hostname');
      const state = () => boot.inLead('flux', 'jobs', '-ano', '{state}', wide);
      await waitFor('the job to wait', async () => (await state()) === 'SCHED');

      const joined = await more.startAll();
      await waitFor('the job', async () => (await state()) === 'INACTIVE');
      const nodes = ['main-0', 'main-1', 'more-0', 'more-1', 'more-2', 'more-3'];
      expect(lines(await boot.inLead('flux', 'job', 'attach', wide))).toEqual(
        nodes.flatMap((node) => [node, node]),
      );

      for (const index of joined.keys()) await more.terminate(index);
      expect((await Promise.all(joined.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([
        143, 143, 143, 143,
      ]);
      await waitFor('the nodes to be down', async () => (await boot.nodesUp()) === 2);
      expect(lines(await boot.inLead('flux', 'run', '-N2', 'hostname'))).toEqual(['main-0', 'main-1']);

      const again = await more.startAll();
      await waitFor('all nodes', async () => (await boot.nodesUp()) === 6);
      await boot.inLead('flux', 'shutdown', '--quiet').catch(() => undefined);
      const ends = await Promise.all([lead!, ...again].map(({ ended }) => ended));
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    } finally {
      await more.remove();
    }
  });
});
