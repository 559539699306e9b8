import { createServer } from 'node:net';
import { waitFor } from '../../../cluster/wait';
import { ended } from '../pod-files';
import { describeShells, spec } from './suite';

const WORKER = { JOB_COMPLETION_INDEX: '2' };

describeShells('a pod that is terminated', (make) => {
  test.each([
    ['worker', WORKER],
    ['lead', {}],
  ])('repeats SIGTERM until a %s broker that is starting ends', async (_, environment) => {
    const pod = make(spec({}));
    const child = pod.start('start.sh', [], { ...environment, FAKE_DEAF: '2' });
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    expect([(await end).code, pod.signals()]).toEqual([143, 3]);
  });

  test('sends SIGTERM once to a lead broker that has its socket, so that it can write its archive', async () => {
    const pod = make(spec({}, { archive: { path: '/mnt/flux/state.tar' } }));
    const child = pod.start('start.sh', [], { FAKE_ENDS: '3' });
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    const server = createServer().listen(pod.path('/mnt/flux/config/run/flux/local'));
    await waitFor('the socket', () => pod.has('/mnt/flux/config/run/flux/local'));
    child.kill('SIGTERM');
    expect([(await end).code, pod.signals()]).toEqual([143, 1]);
    server.close();
  });

  test('does not take the socket of an earlier broker in the same pod for its own', async () => {
    const pod = make(spec({}));
    pod.write('/mnt/flux/config/run/flux/local', '');
    const child = pod.start('start.sh', []);
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    expect(pod.has('/mnt/flux/config/run/flux/local')).toBe(false);
    child.kill('SIGTERM');
    await end;
  });

  test('does not start a broker after SIGTERM', async () => {
    const pod = make(
      spec({ command: 'true', commands: { brokerPre: 'touch "$CALLS.pre"; sleep 1 & wait; :' } }),
    );
    const child = pod.start('start.sh', []);
    const end = ended(child);
    await waitFor('the script', () => pod.has('calls.pre'));
    child.kill('SIGTERM');
    expect([(await end).code, pod.call('broker')]).toEqual([143, undefined]);
  });
});
