import { spawnSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import type { MiniClusterSpec } from '../../../../constructs/minicluster';
import { waitFor } from '../../../cluster/wait';
import { ended } from '../pod-files';
import { type ContainerSpec, describeShells, spec } from './suite';

describeShells('the lead broker', (make) => {
  test('starts the broker with the options that it needs', async () => {
    const pod = make(spec({ command: 'true' }));
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

  test('copies the certificate to a file that only its user can read', async () => {
    const pod = make(spec({ command: 'true' }));
    await pod.run();
    expect(pod.read('/run/flux-curve/curve.cert')).toBe('secret\n');
    expect(statSync(pod.path('/run/flux-curve/curve.cert')).mode & 0o777).toBe(0o400);
    expect(pod.read('/mnt/flux/config/curve/curve.cert')).toBe('secret\n');
    // The script can run again in the same pod.
    expect((await pod.run()).code).toBe(0);
  });

  test('names the certificate that is missing', async () => {
    const pod = make(spec({ command: 'true' }));
    rmSync(pod.path('/etc/flux/curve/curve.cert'));
    const { code, stderr } = await pod.run();
    expect([code, pod.call('broker')]).toEqual([1, undefined]);
    expect(stderr).toContain('MiniCluster: cannot read the certificate ');
  });

  test('names the folder that it cannot write to', async () => {
    const pod = make(spec({ command: 'true' }));
    pod.write('/mnt/flux/config/curve', 'of another user');
    const { code, stderr } = await pod.run();
    expect([code, pod.call('broker')]).toEqual([1, undefined]);
    expect(stderr.replaceAll(pod.root, '')).toContain('MiniCluster: cannot write to /mnt/flux/config; ');
  });

  test('turns pinning off in a copy of the shell_initrc of the image', async () => {
    const pod = make(spec({ command: 'true' }));
    await pod.run();
    expect(pod.read('/mnt/flux/config/initrc.lua')).toBe(
      'source("/usr/etc/flux/shell/initrc.lua")\nif shell.options["cpu-affinity"] == nil then shell.options["cpu-affinity"] = "off" end\n',
    );
  });

  test('leaves pinning on with cpuAffinity', async () => {
    const pod = make(spec({ command: 'true' }, { flux: { cpuAffinity: true } }));
    await pod.run();
    expect(pod.call('broker')).not.toContain('shell_initrc');
    expect(pod.has('/mnt/flux/config/initrc.lua')).toBe(false);
  });

  test('sets the options of zeromq and topology', async () => {
    const pod = make(
      spec({ command: 'true' }, { logging: { zeromq: true }, flux: { topology: 'binomial' } }),
    );
    await pod.run();
    expect(pod.call('broker')).toContain('<-Stbon.topo=binomial><-Stbon.zmqdebug=1>');
  });

  test.each<[string, Partial<ContainerSpec>, string]>([
    ['its command', { command: 'true' }, '<submit><-n><1><--quiet><--watch><true>'],
    ['its script', { commands: { script: 'true\n' } }, '<submit>'],
    ['its launcher', { command: 'flux proxy x', launcher: true }, '<proxy><x>'],
    ['its batch', { command: 'true\n', batch: true }, '<batch>'],
  ])('an interactive cluster runs %s once rc1 is done, and stays up', async (_, container, call) => {
    const pod = make(spec(container, { interactive: true, tasks: 1 }));
    const child = pod.start('start.sh', [], { FAKE_EXIT: '3', FAKE_LOADS: 'yes' });
    const end = ended(child);
    let log = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      log += chunk;
    });
    await waitFor('the broker', () => pod.has('calls.up'));
    expect(pod.calls().filter((each) => each.startsWith(call))).toEqual([]);
    pod.write('calls.go', '');
    await waitFor('the end of the command', () => log.includes('the command exited with code '));
    expect(pod.calls().filter((each) => each.startsWith(call))).toHaveLength(1);
    expect([child.exitCode, pod.call('broker')]).toEqual([
      null,
      expect.stringContaining('<-Sbroker.rc2_none>'),
    ]);
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  test.each<[string, MiniClusterSpec]>([
    ['no command', spec({})],
    ['interactive: true', spec({}, { interactive: true })],
  ])('with %s it runs until it is terminated, and does not count as succeeded then', async (_, of) => {
    const pod = make(of);
    const child = pod.start('start.sh', []);
    const end = ended(child);
    await waitFor('the broker', () => pod.has('calls.up'));
    expect(pod.call('broker')).toContain('<-Sbroker.rc2_none>');
    expect(pod.calls().filter((call) => call.startsWith('<submit>'))).toEqual([]);
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  // libarchive chooses the format by the extension; the fake flux refuses the same names.
  test.each([
    ['/mnt/flux/state.tar', '/mnt/flux/new-state.tar'],
    ['/mnt/flux/state.tar.gz', '/mnt/flux/new-state.tar.gz'],
    ['/mnt/flux/state', '/mnt/flux/state.new.tar'],
  ])('restores the archive %s if it exists, and replaces it by a complete dump', async (path, dump) => {
    const of = spec({ command: 'true' }, { archive: { path } });
    const pod = make(of);
    expect((await pod.run()).code).toBe(0);
    expect(pod.calls()).toContain(`<setattr><content.dump><${dump}>`);
    expect(pod.call('broker')).not.toContain('content.restore');
    expect([pod.has(path), pod.has(dump)]).toEqual([true, false]);
    await pod.run();
    expect(pod.calls().findLast((call) => call.startsWith('<broker>'))).toContain(
      `<-Scontent.restore=${path}>`,
    );
  });

  test('keeps the last complete archive if the dump fails, and says so', async () => {
    const pod = make(spec({ command: 'true' }, { archive: { path: '/mnt/flux/state.tar' } }));
    pod.write('/mnt/flux/state.tar', 'complete');
    const { code, stderr } = await pod.run({ FAKE_RC3: '1' });
    expect([code, pod.read('/mnt/flux/state.tar')]).toEqual([0, 'complete']);
    expect(stderr).toMatch(/MiniCluster: the state was not saved to .*\/state.tar\n/);
  });

  test('keeps the host name of its rank with hostNetwork', async () => {
    const pod = make(spec({ command: 'true' }, { pod: { hostNetwork: true } }));
    await pod.run();
    expect(pod.call('broker')).toContain('<-Shostname=mc-0>');
  });

  test('has its DNS name as host name with fqdn', async () => {
    const pod = make(spec({ command: 'true' }, { network: { fqdn: true } }));
    await pod.run();
    expect(pod.call('broker')).toContain('<-Shostname=mc-0.mc.lab.svc.cluster.local>');
  });

  test('fails with one sentence if neither the image nor a view has Flux', async () => {
    const pod = make(spec({ command: 'true' }));
    spawnSync('rm', [pod.path('bin/flux')]);
    const { code, stderr } = await pod.run();
    expect([code, stderr]).toEqual([1, expect.stringContaining('flux is neither in PATH nor in ')]);
  });

  test('uses Flux from the view, with its Python modules, if the image has none', async () => {
    const pod = make(spec({ command: 'true' }));
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

  test('writes the socket and the variables of the user, quoted, to flux-view.sh', async () => {
    const pod = make(spec({ command: 'true' }, { flux: { environment: { TRICKY: `a 'b' $(c)` } } }));
    await pod.run();
    const text = `. "$1"; printf '%s|%s' "$fluxsocket" "$TRICKY"`;
    const { stdout } = spawnSync(pod.path('bin/sh'), ['-c', text, 'x', pod.path('/mnt/flux/flux-view.sh')]);
    expect(String(stdout).replaceAll(pod.root, '')).toBe(
      `local:///mnt/flux/config/run/flux/local|a 'b' $(c)`,
    );
  });

  test('discovers the resources of its node for an elastic cluster without CPU amounts', async () => {
    const pod = make(spec({ command: 'true' }, { maxSize: 8, flux: { wrap: 'env' } }));
    await pod.run();
    expect(pod.call('R')).toBe('<R><encode><--local><--hosts=mc-[0-7]>');
    expect(pod.read('/mnt/flux/config/etc/flux/system/R')).toBe('{"version":1}\n');
  });

  test.each([
    ['4', '0-3'],
    ['1', '0'],
  ])('adds the GPUs of the spec to the %s cores of its node', async (FAKE_CORES, cores) => {
    const pod = make(spec({ command: 'true', resources: { limits: { 'nvidia.com/gpu': 2 } } }));
    await pod.run({ FAKE_CORES });
    expect(pod.calls()).toContain(`<R><encode><--cores=${cores}><--gpus=0-1><--hosts=mc-[0-3]>`);
  });
});
