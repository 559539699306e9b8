/** GPUs of the pods; the device plugin mounts the devices, and Flux tells each task which of them are its own. */
import { waitFor } from '../cluster/wait';
import { type Container, describeWithFlux, lines } from './suite';

const GPUS = { limits: { 'nvidia.com/gpu': 2 } };

describeWithFlux('with a real Flux', (boot) => {
  test.each<[string, Container]>([
    ['without cpu', { resources: GPUS }],
    ['with cpu', { resources: { ...GPUS, requests: { cpu: '2' } } }],
  ])('each task with a GPU gets its own, %s', async (_, container) => {
    const command =
      "flux run -N2 -n4 -g1 -o gpu-affinity=per-task sh -c 'echo $(hostname) $CUDA_VISIBLE_DEVICES'";
    const { lead } = await boot.cluster({ ...container, command, launcher: true }).toTheEnd();
    const seen = ['mc-0 0', 'mc-0 1', 'mc-1 0', 'mc-1 1'];
    expect([lead.code, lines(lead.stdout)]).toEqual([0, seen]);
  });

  test('Flux lists the GPUs of all nodes, and those of a job as allocated', async () => {
    const list = (state: string) =>
      boot.inLead('flux', 'resource', 'list', '-s', state, '-no', '{nnodes}:{ncores}:{ngpus}:{rlist}');
    await boot.cluster({ resources: { ...GPUS, requests: { cpu: '2' } } }, { size: 2 }).startAll();
    await waitFor('two nodes', async () => (await boot.nodesUp()) === 2);
    expect(await list('free')).toBe('2:4:4:rank[0-1]/core[0-1],gpu[0-1]');
    await boot.inLead('flux', 'submit', '-n1', '-c2', '-g2', 'sleep', '1000');
    await waitFor('the job', async () => (await list('allocated')).startsWith('1:2:2:'));
    expect(await list('free')).toMatch(/^1:2:2:rank[01]\/core\[0-1\],gpu\[0-1\]$/);
    await expect(boot.inLead('flux', 'run', '-g3', 'true')).rejects.toThrow('unsatisfiable');
  });
});
