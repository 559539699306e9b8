/** Brokers whose host names are the DNS names of their pods. */
import type { MiniClusterSpec } from '../../constructs/minicluster';
import { waitFor } from '../cluster/wait';
import { type Container, describeWithFlux, lines } from './suite';

const CPU: Container = { resources: { requests: { cpu: '1' } } };

describeWithFlux('with a real Flux', (boot) => {
  test.each<[string, Container, Partial<MiniClusterSpec>]>([
    ['with cpu', CPU, {}],
    ['without cpu', {}, {}],
    ['in the host network', CPU, { pod: { hostNetwork: true } }],
  ])('the hosts have DNS names that pods can resolve, %s', async (_, container, more) => {
    await boot.cluster(container, { size: 2, network: { fqdn: true }, ...more }).startAll();
    await waitFor('two nodes', async () => (await boot.nodesUp()) === 2);
    const hosts = await boot.inLead('flux', 'resource', 'list', '-s', 'free', '-no', '{nodelist}');
    expect(hosts).toBe('mc-0.mc.lab.svc.cluster.local,mc-1.mc.lab.svc.cluster.local');
    const names = lines(await boot.inLead('flux', 'run', '-N2', 'flux', 'getattr', 'hostname'));
    expect(names).toEqual(['mc-0.mc.lab.svc.cluster.local', 'mc-1.mc.lab.svc.cluster.local']);
    for (const name of names)
      expect((await boot.pods.exec(1, ['getent', 'hosts', name])).stdout).toContain(name);
  });
});
