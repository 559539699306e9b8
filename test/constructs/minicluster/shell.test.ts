/** The scripts that run in pods, under the shells that images have, with a fake flux. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MiniClusterSpec } from '../../../constructs/minicluster';
import { waitFor } from '../../cluster/wait';
import { ended, PodFiles, type Shell } from './pod-files';

const FOLDER = join(__dirname, '../../../constructs/minicluster/shell');
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith('.sh'));

type Container = MiniClusterSpec['containers'][number];

/** A cluster of four with this container; more of the spec beside it. */
function spec(container: Partial<Container>, more: Partial<MiniClusterSpec> = {}): MiniClusterSpec {
  return { size: 4, containers: [{ image: 'app', ...container }], ...more };
}

describe.each<Shell>(['bash', 'dash'])('under %s', (shell) => {
  let pod: PodFiles;
  const make = (of: MiniClusterSpec) => {
    pod = new PodFiles(of, shell);
    return pod;
  };
  afterEach(() => pod.remove());

  describe('the lead', () => {
    test('submits the command and ends with its exit code', async () => {
      make(spec({ command: 'lmp -v x 2 -in in.reaxc' }, { tasks: 8 }));
      expect((await pod.run({ FAKE_EXIT: '3' })).code).toBe(3);
      expect(pod.call('submit')).toBe(
        '<submit><-N><4><-n><8><--quiet><--watch><lmp><-v><x><2><-in><in.reaxc>',
      );
    });

    test('starts the broker as a real one needs it', async () => {
      make(spec({ command: 'true' }));
      await pod.run();
      const call = pod.call('broker');
      expect(call).toMatch(/^<broker><--config-path=\/flux_operator\/config>/);
      for (const option of [
        '-Srundir=/mnt/flux/config/run/flux',
        '-Sstatedir=/mnt/flux/config/var/lib/flux',
        '-Slocal-uri=local:///mnt/flux/config/run/flux/local',
        '-Sbroker.quorum=4',
        '-Slog-stderr-level=6',
        '-Sconf.shell_initrc=/mnt/flux/config/initrc.lua',
      ])
        expect(call).toContain(`<${option}>`);
    });

    test('has a certificate of its own that nobody else can read', async () => {
      make(spec({ command: 'true' }));
      await pod.run();
      expect(pod.read('/run/flux-curve/curve.cert')).toBe('secret\n');
      expect(statSync(pod.path('/run/flux-curve/curve.cert')).mode & 0o777).toBe(0o400);
      expect(pod.read('/mnt/flux/config/curve/curve.cert')).toBe('secret\n');
      // Started again in the same pod.
      expect((await pod.run()).code).toBe(0);
    });

    test('says which certificate is missing', async () => {
      make(spec({ command: 'true' }));
      rmSync(pod.path('/etc/flux/curve/curve.cert'));
      const { code, stderr } = await pod.run();
      expect([code, pod.call('broker')]).toEqual([1, undefined]);
      expect(stderr).toContain("MiniCluster: can't read the certificate ");
    });

    test('lets Flux leave cores alone, whatever rcs the image has', async () => {
      make(spec({ command: 'true' }));
      await pod.run();
      expect(pod.read('/mnt/flux/config/initrc.lua')).toBe(
        'source("/usr/etc/flux/shell/initrc.lua")\nif shell.options["cpu-affinity"] == nil then shell.options["cpu-affinity"] = "off" end\n',
      );
    });

    test('pins tasks where the nodes have CPUs for each pod', async () => {
      make(spec({ command: 'true' }, { flux: { cpuAffinity: true } }));
      await pod.run();
      expect(pod.call('broker')).not.toContain('shell_initrc');
      expect(pod.has('/mnt/flux/config/initrc.lua')).toBe(false);
    });

    test('gives a command with shell syntax to a shell where the task runs', async () => {
      const command = 'echo "it\'s $FLUX_TASK_RANK" && ls *.dat | wc -l';
      make(spec({ command }));
      await pod.run();
      expect(pod.call('submit')).toContain(`<-c><${command}>`);
      expect(pod.call('submit')).toMatch(shell === 'bash' ? /\/bin\/bash><-c>/ : /\/bin\/sh><-c>/);
    });

    test('never lets the shell of the entrypoint look at a command', async () => {
      make(spec({ command: `echo $(touch hacked) \`touch hacked\` "; touch hacked; '` }));
      await pod.run();
      expect(pod.has('hacked')).toBe(false);
    });

    test.each<[string, Partial<MiniClusterSpec>, string]>([
      ['tasks 0: one per node', { tasks: 0 }, '<-N><4><--quiet>'],
      ['fewer tasks than pods', { tasks: 2 }, '<submit><-n><2><--quiet>'],
      ['as many', { tasks: 4 }, '<submit><-N><4><-n><4><--quiet>'],
      ['debug', { logging: { debug: true } }, '<-n><1><-vvv>'],
      [
        'option flags',
        { flux: { optionFlags: "-ompi=openmpi@5 --env='A B'" } },
        '<-ompi=openmpi@5><--env=A B>',
      ],
    ])('with %s', async (_, more, expected) => {
      make(spec({ command: 'true' }, more));
      await pod.run();
      expect(pod.call('submit')).toContain(expected);
    });

    test('another submit command gets no options of flux submit', async () => {
      make(spec({ command: 'hostname' }, { flux: { submitCommand: 'flux run' } }));
      await pod.run();
      expect(pod.call('run')).toBe('<run><-n><1><hostname>');
    });

    test('a launcher runs beside the broker, once', async () => {
      make(spec({ command: 'sh -c "exit 5"', launcher: true }));
      expect((await pod.run()).code).toBe(5);
      expect(pod.call('submit')).toBeUndefined();
    });

    test('a prefix comes before what is started', async () => {
      make(spec({ command: 'hostname', commands: { prefix: 'env -u "A B"' } }));
      await pod.run();
      expect(pod.call('broker')).toContain('<env><-u><A B><flux><submit>');
    });

    test('wrap goes around the broker', async () => {
      make(spec({ command: 'hostname' }, { flux: { wrap: 'env,WRAPPED=1' } }));
      expect((await pod.run()).code).toBe(0);
      expect(pod.read('/flux_operator/cluster/broker.sh')).toMatch(/^set -- env WRAPPED=1 flux broker /);
      expect(pod.call('broker')).toBeDefined();
    });

    test('a script is what every task runs', async () => {
      make(spec({ commands: { script: 'echo "$FLUX_TASK_RANK `date` \\"x\\""' } }));
      await pod.run();
      expect(pod.call('submit')).toContain('</flux_operator/runner/script.sh>');
      expect(pod.read('/flux_operator/runner/script.sh')).toBe('echo "$FLUX_TASK_RANK `date` \\"x\\""\n');
    });

    test('batch: every line a job of one batch job, whose exit code counts', async () => {
      make(spec({ batch: true, command: 'echo one\n\necho "two  three"\n-N2 hostname\n' }));
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

    test('batchRaw: the command is the batch script', async () => {
      make(
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

    test('blocks run in order, and what they export the command sees', async () => {
      make(
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

    test('strict: a failing line of a block ends the pod', async () => {
      make(spec({ command: 'true', commands: { pre: 'false\necho on' } }, { logging: { strict: true } }));
      const { code, stdout } = await pod.run();
      expect([code, stdout, pod.call('broker')]).toEqual([1, '', undefined]);
    });

    test('not strict: it goes on', async () => {
      make(spec({ command: 'true', commands: { pre: 'false\necho on' } }));
      const { code, stdout } = await pod.run();
      expect([code, stdout]).toEqual([0, 'on\n']);
    });

    test('strict leaves the exit code of the command alone', async () => {
      make(spec({ command: 'true', commands: { pre: 'true' } }, { logging: { strict: true } }));
      expect((await pod.run({ FAKE_EXIT: '7' })).code).toBe(7);
    });

    test('quiet: only what the command and post print', async () => {
      const commands = { pre: 'echo pre', post: 'echo post' };
      make(spec({ command: 'echo done', launcher: true, commands }, { logging: { quiet: true } }));
      expect(await pod.run()).toEqual({ code: 0, stdout: 'done\npost\n', stderr: '' });
      expect(pod.call('broker')).toContain('<-Slog-stderr-level=0>');
    });

    test('timed: how long instance and command took, and the exit code stays', async () => {
      make(spec({ command: 'true' }, { logging: { timed: true } }));
      const { code, stderr } = await pod.run({ FAKE_EXIT: '6' });
      expect(code).toBe(6);
      expect(stderr).toMatch(/FLUXTIME fluxsubmit wall time \d+:\d\d/);
      expect(stderr).toMatch(/FLUXTIME fluxstart wall time \d+:\d\d/);
    });

    test('zeromq and topology', async () => {
      make(spec({ command: 'true' }, { logging: { zeromq: true }, flux: { topology: 'binomial' } }));
      await pod.run();
      expect(pod.call('broker')).toContain('<-Stbon.topo=binomial><-Stbon.zmqdebug=1>');
    });

    test.each<[string, MiniClusterSpec]>([
      ['no command', spec({})],
      ['interactive, whatever the command', spec({ command: 'sleep 1' }, { interactive: true })],
    ])('with %s it stays until it is told to go, and does not count as done then', async (_, of) => {
      make(of);
      const child = pod.start('start.sh', []);
      const end = ended(child);
      await waitFor('the broker', () => pod.has('calls.up'));
      expect(pod.call('broker')).toContain('<-Sbroker.rc2_none>');
      expect(pod.calls().filter((call) => call.startsWith('<submit>'))).toEqual([]);
      child.kill('SIGTERM');
      expect((await end).code).toBe(143);
    });

    // libarchive goes by the end of the name; the fake refuses as it does.
    test.each([
      ['/mnt/flux/state.tar', '/mnt/flux/new-state.tar'],
      ['/mnt/flux/state.tar.gz', '/mnt/flux/new-state.tar.gz'],
      ['/mnt/flux/state', '/mnt/flux/state.new.tar'],
    ])(
      'an archive %s: restored if it is there, dumped beside, put in place when whole',
      async (path, dump) => {
        const of = spec({ command: 'true' }, { archive: { path } });
        make(of);
        expect((await pod.run()).code).toBe(0);
        expect(pod.call('broker')).toContain(`<-Scontent.dump=${dump}>`);
        expect(pod.call('broker')).not.toContain('content.restore');
        expect([pod.has(path), pod.has(dump)]).toEqual([true, false]);
        await pod.run();
        expect(pod.calls().at(-2)).toContain(`<-Scontent.restore=${path}>`);
      },
    );

    test('in the network of the node it keeps the name of its rank', async () => {
      make(spec({ command: 'true' }, { pod: { hostNetwork: true } }));
      await pod.run();
      expect(pod.call('broker')).toContain('<-Shostname=mc-0>');
    });

    test('an image without Flux, and no view: one sentence', async () => {
      make(spec({ command: 'true' }));
      spawnSync('rm', [pod.path('bin/flux')]);
      const { code, stderr } = await pod.run();
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('there is no flux in PATH, and no view of it in'),
      ]);
    });

    test('Flux from the view comes after the image, with its Python modules', async () => {
      make(spec({ command: 'true' }));
      spawnSync('mkdir', [
        '-p',
        pod.path('/mnt/flux/view/bin'),
        pod.path('/mnt/flux/view/lib/python3.11/site-packages'),
      ]);
      spawnSync('mv', [pod.path('bin/flux'), pod.path('/mnt/flux/view/bin/flux')]);
      expect((await pod.run()).code).toBe(0);
      expect(pod.read('/mnt/flux/flux-view.sh')).toContain(
        'export PYTHONPATH="/mnt/flux/view/lib/python3.11/site-packages"',
      );
    });

    test('flux-view.sh has the socket and the users variables, quoted', async () => {
      make(spec({ command: 'true' }, { flux: { environment: { TRICKY: `a 'b' $(c)` } } }));
      await pod.run();
      const text = `. "$1"; printf '%s|%s' "$fluxsocket" "$TRICKY"`;
      const { stdout } = spawnSync(pod.path('bin/sh'), ['-c', text, 'x', pod.path('/mnt/flux/flux-view.sh')]);
      expect(String(stdout).replaceAll(pod.root, '')).toBe(
        `local:///mnt/flux/config/run/flux/local|a 'b' $(c)`,
      );
    });

    test('without CPUs in an elastic spec it says what this node has', async () => {
      make(spec({ command: 'true' }, { maxSize: 8, flux: { wrap: 'env' } }));
      await pod.run();
      expect(pod.call('R')).toBe('<R><encode><--local><--hosts=mc-[0-7]>');
      expect(pod.read('/mnt/flux/config/etc/flux/system/R')).toBe('{"version":1}\n');
    });
  });

  describe('a worker', () => {
    const worker = { JOB_COMPLETION_INDEX: '2' };

    test('tries again for as long as it is let, also after a broker that ended well; told to go it is not done', async () => {
      make(spec({ command: 'hostname', commands: { workerPre: 'echo worker', brokerPre: 'echo lead' } }));
      const child = pod.start('start.sh', [], { ...worker, FAKE_WORKER: '0' });
      const end = ended(child);
      await waitFor(
        'a second try',
        () => pod.calls().filter((call) => call.startsWith('<broker>')).length >= 2,
      );
      expect(pod.calls().filter((call) => call.startsWith('<submit>'))).toEqual([]);
      child.kill('SIGTERM');
      const { code, stdout } = await end;
      expect([code, stdout]).toEqual([143, 'worker\n']);
    });

    test('passes SIGTERM on to its broker', async () => {
      make(spec({ command: 'hostname' }));
      const child = pod.start('start.sh', [], worker);
      const end = ended(child);
      await waitFor('the broker', () => pod.has('calls.up'));
      child.kill('SIGTERM');
      expect((await end).code).toBe(143);
    });

    test('completeWorkers: the first end is the end', async () => {
      make(spec({ command: 'hostname' }, { flux: { completeWorkers: true } }));
      expect((await pod.run({ ...worker, FAKE_WORKER: '9' })).code).toBe(9);
    });

    test('in a cluster that joins another every pod works, and is done when its broker ends well', async () => {
      const leadBroker = { address: 'lead.example.org', name: 'main', size: 4 };
      make(spec({ command: 'hostname' }, { flux: { curveCertSecret: 'shared', bursting: { leadBroker } } }));
      const { code } = await pod.run({ FAKE_WORKER: '0' });
      expect([code, pod.call('submit')]).toEqual([0, undefined]);
      expect(pod.call('broker')).not.toContain('quorum');
    });
  });

  describe('a sidecar', () => {
    const sidecars = (sidecar: Partial<Container>, more: Partial<MiniClusterSpec> = {}): MiniClusterSpec => ({
      containers: [
        { image: 'app', runFlux: true, command: 'hostname' },
        { image: 'side', name: 'side', ...sidecar },
      ],
      ...more,
    });

    test('waits for the socket, runs its command, and stays when that is done', async () => {
      const commands = { init: 'echo init', servicePre: 'echo servicePre', post: 'echo post' };
      make(sidecars({ command: 'echo "$fluxsocket"; true', commands }, { flux: { noWaitSocket: true } }));
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

    test('ends with the code of a command that fails, to be started again', async () => {
      make(sidecars({ command: 'exit 4' }, { flux: { noWaitSocket: true } }));
      expect((await ended(pod.start('sidecar.sh', ['side']))).code).toBe(4);
    });

    test('goes at once when told so while it waits for the socket', async () => {
      make(sidecars({ command: 'echo never' }));
      const child = pod.start('sidecar.sh', ['side']);
      const end = ended(child);
      await waitFor('its first files', () => pod.has('/mnt/flux/config/home'));
      child.kill('SIGTERM');
      expect((await end).stdout).toBe('');
    });
  });

  test('the view is copied to where the others look for it, also a second time', () => {
    make(spec({ command: 'true' }));
    const text = readFileSync(join(FOLDER, 'view.sh'), 'utf8').replaceAll(/\/opt|\/flux_software/g, (place) =>
      pod.path(place),
    );
    pod.write('view.sh', text);
    pod.write('/opt/views/._view/abc/bin/flux', '#!/bin/sh\n');
    spawnSync('chmod', ['+x', pod.path('/opt/views/._view/abc/bin/flux')]);
    pod.write('/opt/software/lib/libflux.so', 'x');
    for (const _ of [1, 2]) {
      const { status, stderr } = spawnSync(pod.path('bin/sh'), [pod.path('view.sh'), pod.path('/mnt/flux')], {
        env: { PATH: pod.path('bin') },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
    }
    expect(pod.has('/mnt/flux/view/bin/flux')).toBe(true);
    expect(pod.has('/flux_software/lib/libflux.so')).toBe(true);
  });

  test.each<[string, Record<string, string>, string[]]>([
    ['is there already', { FAKE_MODULES: 'sched-fluxion-qmanager' }, []],
    [
      'is not installed',
      { FAKE_MODULES: 'sched-simple', FAKE_INSTALLED: '' },
      ['load sched-fluxion-resource'],
    ],
    [
      'is installed',
      { FAKE_MODULES: 'sched-simple', FAKE_INSTALLED: 'sched-fluxion-resource sched-fluxion-qmanager' },
      [
        'load sched-fluxion-resource',
        'remove -f sched-simple',
        'load sched-fluxion-feasibility',
        'load sched-fluxion-qmanager',
      ],
    ],
    ['is the business of rank 0', { FAKE_RANK: '3', FAKE_INSTALLED: 'sched-fluxion-resource' }, []],
  ])('Fluxion %s', (_, environment, loaded) => {
    make(spec({ command: 'true' }));
    const { status } = spawnSync(pod.path('/flux_operator/rc/rc1.d/fluxion'), [], {
      env: { PATH: `${pod.path('bin')}`, CALLS: pod.path('calls'), FAKE_RANK: '0', ...environment },
    });
    expect(status).toBe(0);
    const calls = pod.calls().filter((call) => /^<module><(load|remove)>/.test(call));
    expect(calls.map((call) => call.slice(9, -1).replaceAll('><', ' '))).toEqual(loaded);
  });
});

test('the scripts are short', () => {
  const lines = SCRIPTS.flatMap((name) => readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n'));
  expect(lines.length).toBeLessThan(260);
});

const shellcheck = (process.env.PATH ?? '')
  .split(':')
  .some((folder) => existsSync(join(folder, 'shellcheck')));
(shellcheck ? test : test.skip)('shellcheck finds nothing', () => {
  const { stdout, status } = spawnSync('shellcheck', ['-x', ...SCRIPTS], { cwd: FOLDER, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});
