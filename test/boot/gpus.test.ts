/** GPUs of the pods; the device plugin mounts the devices, and Flux tells each task which of them are its own. */
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
});
