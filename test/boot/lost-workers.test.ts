/** Workers that die and come back: their pod is replaced, or their broker is started again in the same pod. */
import type { MiniClusterSpec } from '../../constructs/minicluster';
import { waitFor } from '../cluster/wait';
import { type Container, describeWithFlux, FLUX, lines, SOCKET } from './suite';

const LAUNCHER: Container = { command: 'sleep infinity', launcher: true };
const CPU: Container = { resources: { requests: { cpu: '1' } } };
type Form = readonly [string, Container, Partial<MiniClusterSpec>];

const FORMS: readonly Form[] = [
  ['an interactive cluster', {}, {}],
  ['a cluster that is interactive by its spec', {}, { interactive: true }],
  ['a StatefulSet', {}, { workload: 'StatefulSet', interactive: true }],
  ['a command with retries', LAUNCHER, { backoffLimit: 2 }],
  ['a cluster that can grow', LAUNCHER, { maxSize: 5 }],
];

describeWithFlux('with a real Flux', (boot) => {
  /** The process of the broker in a pod. */
  async function brokerPid(index: number): Promise<string | undefined> {
    const words = ['proxy', SOCKET, 'flux', 'getattr', 'broker.pid'];
    const { code, stdout } = await boot.pods.exec(index, [`${FLUX}/bin/flux`, ...words]);
    return code === 0 ? stdout.trim() : undefined;
  }

  test.each<Form>([
    ...FORMS,
    ...FORMS.map(([form, container, more]): Form => [`${form}, with cpu`, { ...container, ...CPU }, more]),
  ])('a worker that dies and comes back gets work again in %s', async (_, container, more) => {
    const mc = boot.cluster(container, { size: 3, ...more });
    await mc.startAll();
    await waitFor('three nodes', async () => (await boot.nodesUp()) === 3);
    await mc.kill(1);
    await waitFor('the loss of a worker', async () => (await boot.nodesUp()) === 2);
    await mc.start(1);
    await waitFor('its new pod', async () => (await boot.nodesUp()) === 3);
    expect(lines(await boot.inLead('flux', 'run', '-N3', 'hostname'))).toEqual(['mc-0', 'mc-1', 'mc-2']);
    const before = await brokerPid(2);
    await mc.exec(2, ['kill', '-9', before!]);
    await waitFor('its new process', async () => ![before, undefined].includes(await brokerPid(2)));
    await waitFor('its new broker', async () => (await boot.nodesUp()) === 3);
    expect(lines(await boot.inLead('flux', 'run', '-N3', 'hostname'))).toEqual(['mc-0', 'mc-1', 'mc-2']);
  });
});
