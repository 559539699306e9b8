import { spawnSync } from 'node:child_process';
import { describeShells, spec } from './suite';

describeShells('the rc1 script of Fluxion', (make) => {
  test.each<[string, Record<string, string>, string[]]>([
    ['loads nothing if Fluxion is loaded', { FAKE_MODULES: 'sched-fluxion-qmanager' }, []],
    [
      'keeps the simple scheduler if Fluxion is not installed',
      { FAKE_MODULES: 'sched-simple', FAKE_INSTALLED: '' },
      ['load sched-fluxion-resource'],
    ],
    [
      'replaces the simple scheduler by Fluxion if it is installed',
      { FAKE_MODULES: 'sched-simple', FAKE_INSTALLED: 'sched-fluxion-resource sched-fluxion-qmanager' },
      [
        'load sched-fluxion-resource',
        'remove -f sched-simple',
        'load sched-fluxion-feasibility',
        'load sched-fluxion-qmanager',
      ],
    ],
    ['loads nothing on other ranks than 0', { FAKE_RANK: '3', FAKE_INSTALLED: 'sched-fluxion-resource' }, []],
  ])('%s', (_, environment, loaded) => {
    const pod = make(spec({ command: 'true' }));
    const { status } = spawnSync(pod.path('/flux_operator/rc/rc1.d/fluxion'), [], {
      env: { PATH: `${pod.path('bin')}`, CALLS: pod.path('calls'), FAKE_RANK: '0', ...environment },
    });
    expect(status).toBe(0);
    const calls = pod.calls().filter((call) => /^<module><(load|remove)>/.test(call));
    expect(calls.map((call) => call.slice(9, -1).replaceAll('><', ' '))).toEqual(loaded);
  });
});
