/** Pods with addresses of one family or of both. */
import { waitFor } from '../cluster/wait';
import type { Family } from './network';
import { Pods } from './pods';
import { describeWithFlux, lines, manifests, WITH_FLUX } from './suite';

describe.each<[string, readonly Family[]]>([
  ['IPv4 only', ['ipv4']],
  ['IPv6 only', ['ipv6']],
  ['both families', ['ipv6', 'ipv4']],
])('with %s', (_, families) => {
  describeWithFlux(
    'and a real Flux',
    (boot) => {
      test('the brokers connect and run a task on each node', async () => {
        const { lead } = await boot.cluster({ command: 'hostname' }, { size: 3, tasks: 3 }).toTheEnd();
        expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1', 'mc-2']]);
      });

      test('brokers of another cluster join at the address of the lead broker', async () => {
        const container = { image: 'app', resources: { requests: { cpu: '1' } } };
        const flux = { container: { disable: true }, bursting: { clusters: [{ name: 'burst', size: 1 }] } };
        await boot.cluster(container, { size: 1, minSize: 1, flux }).startAll();
        const leadBroker = { address: boot.network.address(0), name: 'mc', size: 1 };
        const joining = { ...flux, bursting: { leadBroker }, curveCertSecret: 'mc-curve' };
        const spec = { size: 1, containers: [container], flux: joining };
        const burst = new Pods(manifests(spec, 'lab', 'burst'), () => WITH_FLUX, boot.network, 8);
        try {
          await burst.startAll();
          await waitFor('two nodes', async () => (await boot.nodesUp()) === 2);
        } finally {
          await burst.remove();
        }
      });
    },
    families,
  );
});
