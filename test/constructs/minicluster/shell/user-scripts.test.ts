import { describeShells, spec } from './suite';

describeShells('user scripts of the lead broker', (make) => {
  test('run in order, and the command gets the variables that they export', async () => {
    const pod = make(
      spec({
        command: 'sh -c "echo $ORDER"',
        launcher: true,
        commands: {
          init: 'export ORDER="init"',
          pre: 'ORDER="$ORDER pre"',
          brokerPre: 'ORDER="$ORDER brokerPre"',
          workerPre: 'ORDER="$ORDER workerPre"',
          post: 'echo "post after $ORDER"; false',
        },
      }),
    );
    const { code, stdout } = await pod.run();
    expect([code, stdout]).toEqual([0, 'init pre brokerPre\npost after init pre brokerPre\n']);
  });

  test('end the pod at a failing line with strict', async () => {
    const pod = make(
      spec({ command: 'true', commands: { pre: 'false\necho on' } }, { logging: { strict: true } }),
    );
    const { code, stdout, stderr } = await pod.run();
    expect([code, stdout, pod.call('broker')]).toEqual([1, '', undefined]);
    expect(stderr).toBe('MiniCluster: pre failed with code 1\n');
  });

  test('continue after a failing line without strict', async () => {
    const pod = make(spec({ command: 'true', commands: { pre: 'false\necho on' } }));
    const { code, stdout } = await pod.run();
    expect([code, stdout]).toEqual([0, 'on\n']);
  });

  test('do not change the exit code of the command with strict', async () => {
    const pod = make(spec({ command: 'true', commands: { pre: 'true' } }, { logging: { strict: true } }));
    expect((await pod.run({ FAKE_EXIT: '7' })).code).toBe(7);
  });

  test('are quiet with quiet, except for the command and post', async () => {
    const commands = { pre: 'echo pre', post: 'echo post' };
    const pod = make(spec({ command: 'echo done', launcher: true, commands }, { logging: { quiet: true } }));
    expect(await pod.run()).toEqual({ code: 0, stdout: 'done\npost\n', stderr: '' });
    // Brokers print critical messages whatever the level of the others: each worker, when the lead broker ends (`overlay.crit`).
    for (const level of ['stderr', 'critical'])
      expect(pod.call('broker')).toContain(`<-Slog-${level}-level=0>`);
  });

  test('are followed by the times of instance and command with timed, without changing the exit code', async () => {
    const pod = make(spec({ command: 'true' }, { logging: { timed: true } }));
    const { code, stderr } = await pod.run({ FAKE_EXIT: '6' });
    expect(code).toBe(6);
    expect(stderr).toMatch(/FLUXTIME fluxsubmit wall time \d+:\d\d/);
    expect(stderr).toMatch(/FLUXTIME fluxstart wall time \d+:\d\d/);
  });
});
