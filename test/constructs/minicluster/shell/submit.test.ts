import type { MiniClusterSpec } from '../../../../constructs/minicluster';
import { describeShells, spec } from './suite';

describeShells('the lead broker', (make, shell) => {
  test('submits the command and ends with its exit code', async () => {
    const pod = make(spec({ command: 'lmp -v x 2 -in in.reaxc' }, { tasks: 8 }));
    expect((await pod.run({ FAKE_EXIT: '3' })).code).toBe(3);
    expect(pod.call('submit')).toBe('<submit><-N><4><-n><8><--quiet><--watch><lmp><-v><x><2><-in><in.reaxc>');
  });

  test('passes a command with shell syntax to a shell that runs with the task', async () => {
    const command = 'echo "it\'s $FLUX_TASK_RANK" && ls *.dat | wc -l';
    const pod = make(spec({ command }));
    await pod.run();
    expect(pod.call('submit')).toContain(`<-c><${command}>`);
    expect(pod.call('submit')).toMatch(shell === 'bash' ? /\/bin\/bash><-c>/ : /\/bin\/sh><-c>/);
  });

  test('never interprets a command in the shell of the entrypoint', async () => {
    const pod = make(spec({ command: `echo $(touch hacked) \`touch hacked\` "; touch hacked; '` }));
    await pod.run();
    expect(pod.has('hacked')).toBe(false);
  });

  test.each<[string, Partial<MiniClusterSpec>, string]>([
    ['tasks 0, which is one per node', { tasks: 0 }, '<-N><4><--quiet>'],
    ['fewer tasks than pods', { tasks: 2 }, '<submit><-n><2><--quiet>'],
    ['as many tasks as pods', { tasks: 4 }, '<submit><-N><4><-n><4><--quiet>'],
    ['debug', { logging: { debug: true } }, '<-n><1><-vvv>'],
    [
      'option flags',
      { flux: { optionFlags: "-ompi=openmpi@5 --env='A B'" } },
      '<-ompi=openmpi@5><--env=A B>',
    ],
  ])('submits with %s', async (_, more, expected) => {
    const pod = make(spec({ command: 'true' }, more));
    await pod.run();
    expect(pod.call('submit')).toContain(expected);
  });

  test('passes no options of flux submit to another submit command', async () => {
    const pod = make(spec({ command: 'hostname' }, { flux: { submitCommand: 'flux run' } }));
    await pod.run();
    expect(pod.call('run')).toBe('<run><-n><1><hostname>');
  });

  test('runs a launcher once, beside the broker', async () => {
    const pod = make(spec({ command: 'sh -c "exit 5"', launcher: true }));
    expect((await pod.run()).code).toBe(5);
    expect(pod.call('submit')).toBeUndefined();
  });

  test('puts the prefix before the submit command', async () => {
    const pod = make(spec({ command: 'hostname', commands: { prefix: 'env -u "A B"' } }));
    await pod.run();
    expect(pod.call('broker')).toContain('<env><-u><A B><flux><submit>');
  });

  test('starts the broker with the wrap command', async () => {
    const pod = make(spec({ command: 'hostname' }, { flux: { wrap: 'env,WRAPPED=1' } }));
    expect((await pod.run()).code).toBe(0);
    expect(pod.read('/flux_operator/cluster/broker.sh')).toMatch(/^set -- env WRAPPED=1 flux broker /);
    expect(pod.call('broker')).toBeDefined();
  });

  test('submits a script that every task runs', async () => {
    const pod = make(spec({ commands: { script: 'echo "$FLUX_TASK_RANK `date` \\"x\\""' } }));
    await pod.run();
    expect(pod.call('submit')).toContain('</flux_operator/runner/script.sh>');
    expect(pod.read('/flux_operator/runner/script.sh')).toBe('echo "$FLUX_TASK_RANK `date` \\"x\\""\n');
  });
});
