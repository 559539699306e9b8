import { spawnSync } from 'node:child_process';
import { describeShells, spec } from './suite';

describeShells('the lead broker', (make) => {
  test('submits a batch job with a job for every line and ends with its exit code', async () => {
    const pod = make(spec({ batch: true, command: 'echo one\n\necho "two  three"\n-N2 hostname\n' }));
    expect((await pod.run({ FAKE_EXIT: '4' })).code).toBe(4);
    expect(pod.call('batch')).toBe(
      '<batch><-n><1><--output=kvs><--broker-opts=-Sconf.shell_initrc=/mnt/flux/config/initrc.lua></flux_operator/runner/batch.sh>',
    );
    expect(pod.call('job')).toBe('<job><attach><f23>');
    expect(pod.has('/tmp/fluxout')).toBe(true);

    const env = { PATH: pod.path('bin'), CALLS: pod.path('inside'), FLUX_OUTPUT_DIR: '/out', shell: 'sh' };
    const inside = spawnSync(pod.path('bin/sh'), [pod.path('/flux_operator/runner/batch.sh')], {
      env,
    });
    expect(inside.status).toBe(0);
    expect(pod.read('inside').trimEnd().split('\n')).toEqual([
      '<submit><--flags=waitable><--error=/out/job-0.err><--output=/out/job-0.out><echo><one>',
      '<submit><--flags=waitable><--error=/out/job-1.err><--output=/out/job-1.out><sh><-c><echo "two  three">',
      '<submit><--flags=waitable><--error=/out/job-2.err><--output=/out/job-2.out><-N2><hostname>',
      '<queue><idle>',
      '<job><wait><--all>',
      '<jobs><-a>',
    ]);
  });

  test('submits the command of batchRaw as the batch script', async () => {
    const pod = make(
      spec({
        batch: true,
        batchRaw: true,
        command: 'flux run -n2 hostname\nexit 0\n',
        logs: '/tmp/fluxout/x',
      }),
    );
    expect((await pod.run()).code).toBe(0);
    expect(pod.read('/flux_operator/runner/batch.sh')).toBe('#!/bin/sh\nflux run -n2 hostname\nexit 0\n');
    expect(pod.has('/tmp/fluxout/x')).toBe(true);
  });
});
