import { once } from 'node:events';
import { waitFor } from '../../../cluster/wait';
import { ended } from '../pod-files';
import { describeShells, spec } from './suite';

const WORKER = { JOB_COMPLETION_INDEX: '2' };

describeShells('a pod that is terminated', (make) => {
  test('repeats SIGTERM until a worker broker that is starting ends', async () => {
    const pod = make(spec({}));
    const child = pod.start('start.sh', [], { ...WORKER, FAKE_DEAF: '2' });
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    expect([(await end).code, pod.signals()]).toEqual([143, 3]);
  });

  test('ends a lead broker in rc1 that ignored SIGTERM while it loaded its modules', async () => {
    const pod = make(spec({ command: 'true' }, { archive: { path: '/mnt/flux/state.tar' } }));
    const child = pod.start('start.sh', [], { FAKE_LOADS: 'yes' });
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    await waitFor('the signal', () => pod.signals() === 1);
    pod.write('calls.go', '');
    const { code, stderr } = await end;
    expect([code, pod.signals(), stderr]).toEqual([
      143,
      1,
      expect.stringContaining(`the state was not saved to ${pod.path('/mnt/flux/state.tar')}`),
    ]);
    expect(pod.calls().map((call) => call.split('><')[0])).toEqual(
      expect.not.arrayContaining(['<submit', '<setattr']),
    );
    expect(pod.calls()).not.toContain('<modprobe><rc1>');
    expect(pod.calls()).toContain('<modprobe><rc3>');
  });

  test('sends SIGTERM once to a lead broker, so that it can write its archive', async () => {
    const pod = make(spec({}, { archive: { path: '/mnt/flux/state.tar' } }));
    const child = pod.start('start.sh', [], { FAKE_ENDS: '5' });
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    expect([(await end).code, pod.signals(), pod.has('/mnt/flux/state.tar')]).toEqual([143, 1, true]);
  });

  test('kills a lead broker without an archive whose rc3 hangs', async () => {
    const pod = make(spec({}));
    const child = pod.start('start.sh', [], { FAKE_HANGS: 'yes' });
    const end = once(child, 'exit');
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    expect(await end).toEqual([143, null]);
    pod.write('calls.go', '');
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
