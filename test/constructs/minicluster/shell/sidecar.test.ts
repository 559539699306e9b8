import { statSync } from 'node:fs';
import type { MiniClusterSpec } from '../../../../constructs/minicluster';
import { waitFor } from '../../../cluster/wait';
import { ended } from '../pod-files';
import { type ContainerSpec, describeShells } from './suite';

describeShells('a sidecar', (make) => {
  const sidecars = (
    sidecar: Partial<ContainerSpec>,
    more: Partial<MiniClusterSpec> = {},
  ): MiniClusterSpec => ({
    containers: [
      { image: 'app', runFlux: true, command: 'hostname' },
      { image: 'side', name: 'side', ...sidecar },
    ],
    ...more,
  });

  test('runs its scripts and its command, and stays when the command has ended', async () => {
    const commands = { init: 'echo init', servicePre: 'echo servicePre', post: 'echo post' };
    const pod = make(
      sidecars({ command: 'echo "$fluxsocket"; true', commands }, { flux: { noWaitSocket: true } }),
    );
    const child = pod.start('sidecar.sh', ['side']);
    let stdout = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    const end = ended(child);
    await waitFor('post', () => stdout.includes('post'));
    child.kill('SIGTERM');
    expect((await end).code).toBe(0);
    expect(stdout.replaceAll(pod.root, '')).toBe(
      'init\nservicePre\nlocal:///mnt/flux/config/run/flux/local\npost\n',
    );
  });

  test('exits with the code of a command that fails, so that the kubelet restarts it', async () => {
    const pod = make(sidecars({ command: 'exit 4' }, { flux: { noWaitSocket: true } }));
    expect((await ended(pod.start('sidecar.sh', ['side']))).code).toBe(4);
  });

  test('ends at once when it is terminated while it waits for the socket', async () => {
    const pod = make(sidecars({ command: 'echo never' }));
    const child = pod.start('sidecar.sh', ['side']);
    const end = ended(child);
    await waitFor('its first files', () => pod.has('/mnt/flux/config/home'));
    child.kill('SIGTERM');
    expect((await end).stdout).toBe('');
  });

  test('leaves its folders to a broker of another user, which starts later', async () => {
    const pod = make(sidecars({ command: 'true' }, { flux: { noWaitSocket: true } }));
    const child = pod.start('sidecar.sh', ['side']);
    const end = ended(child);
    const folders = ['/mnt/flux/config', '/mnt/flux/config/home'];
    await waitFor('its first files', () => folders.every((folder) => pod.has(folder)));
    child.kill('SIGTERM');
    await end;
    // As /tmp: nobody removes what another user has there.
    expect(folders.map((folder) => statSync(pod.path(folder)).mode & 0o7777)).toEqual([0o1777, 0o1777]);
  });
});
