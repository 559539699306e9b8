import { waitFor } from '../../../cluster/wait';
import { ended } from '../pod-files';
import { describeShells, spec } from './suite';

describeShells('a worker', (make) => {
  const worker = { JOB_COMPLETION_INDEX: '2' };

  test('restarts its broker until it is terminated, even after exit code 0, and does not count as succeeded then', async () => {
    const pod = make(
      spec({ command: 'hostname', commands: { workerPre: 'echo worker', brokerPre: 'echo lead' } }),
    );
    const child = pod.start('start.sh', [], { ...worker, FAKE_WORKER: '0' });
    const end = ended(child);
    await waitFor(
      'the second broker',
      () => pod.calls().filter((call) => call.startsWith('<broker>')).length >= 2,
    );
    expect(pod.calls().filter((call) => call.startsWith('<submit>'))).toEqual([]);
    child.kill('SIGTERM');
    const { code, stdout } = await end;
    expect([code, stdout]).toEqual([143, 'worker\n']);
  });

  test('forwards SIGTERM to its broker', async () => {
    const pod = make(spec({ command: 'hostname' }));
    const child = pod.start('start.sh', [], worker);
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  test('ends with its first broker with completeWorkers', async () => {
    const pod = make(spec({ command: 'hostname' }, { flux: { completeWorkers: true } }));
    expect((await pod.run({ ...worker, FAKE_WORKER: '9' })).code).toBe(9);
  });

  test('runs in every pod of a cluster that joins another, and ends when its broker succeeds', async () => {
    const leadBroker = { address: 'lead.example.org', name: 'main', size: 4 };
    const pod = make(
      spec({ command: 'hostname' }, { flux: { curveCertSecret: 'shared', bursting: { leadBroker } } }),
    );
    const { code } = await pod.run({ FAKE_WORKER: '0' });
    expect([code, pod.call('submit')]).toEqual([0, undefined]);
    expect(pod.call('broker')).not.toContain('quorum');
  });
});
