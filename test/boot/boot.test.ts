import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MiniClusterSpec } from '../../constructs/minicluster';
import { checkCertificate } from '../../runtime/miniclusters/curve';
import { waitFor } from '../cluster/wait';
import { type Image, Pods } from './pods';
import { type Container, describeWithFlux, FLUX, lines, manifests, WITH_FLUX } from './suite';

const WITHOUT_FLUX: Image = { folders: {} };
const hasFluxion = existsSync(`${FLUX}/lib/flux/modules/sched-fluxion-qmanager.so`);
/** The layout of the published view image: the packages in /opt/software and their merged tree in /opt/view. */
const VIEW: Image = { folders: { '/opt/software': '/opt/software', '/opt/view': FLUX ?? '' } };

describeWithFlux('with a real Flux', (boot) => {
  const cluster = boot.cluster.bind(boot);
  const inLead = boot.inLead.bind(boot);
  const nodesUp = boot.nodesUp.bind(boot);

  test.each<[string, Image]>([
    ['in the image', WITH_FLUX],
    ['from the view', WITHOUT_FLUX],
  ])('runs a spec with only an image and a command, with Flux %s', async (_, image) => {
    const spec = { size: 4, containers: [{ image: 'app', command: 'hostname' }] };
    const pods = boot.boot(manifests(spec), (name) => (name === 'app' ? image : VIEW));
    const { lead, workers } = await pods.toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, expect.stringMatching(/^mc-[0-3]\n$/)]);
    expect(workers.map(({ code }) => code)).toEqual([143, 143, 143]);
    expect(lead.stderr).toContain('quorum-full');
  });

  test('runs one task on each node', async () => {
    const { lead } = await cluster({ command: 'hostname' }, { size: 4, tasks: 4 }).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1', 'mc-2', 'mc-3']]);
  });

  test.each<[string, Container]>([
    ['a program', { command: "sh -c 'exit 3'" }],
    ['a script', { commands: { script: 'exit 3\n' } }],
    ['a launcher', { command: "flux run -n2 sh -c 'exit 3'", launcher: true }],
    ['a batch script', { command: '#!/bin/sh\nflux run sh -c "exit 3"\n', batchRaw: true }],
  ])('exits with the exit code of %s', async (_, container) => {
    const { lead } = await cluster(container).toTheEnd();
    expect(lead.code).toBe(3);
  });

  test('runs each line of a batch as a job and fails if one of them fails', async () => {
    const command = 'echo one\n-n1 hostname\nsh -c "exit 4"\n';
    const post = 'cat /tmp/fluxout/*.out';
    const { lead } = await cluster({ command, batch: true, commands: { post } }, { size: 1 }).toTheEnd();
    expect(lead.code).not.toBe(0);
    expect(lines(lead.stdout).filter((line) => /^(one|mc-0)$/.test(line))).toEqual(['mc-0', 'one']);
  });

  test('runs a quiet batch on several nodes', async () => {
    const command = '-N2 -n2 hostname\n';
    const post = 'cat /tmp/fluxout/*.out';
    const more = { tasks: 0, logging: { quiet: true } };
    const { lead, workers } = await cluster({ command, batch: true, commands: { post } }, more).toTheEnd();
    const printed = [lead, ...workers].map(({ stdout }) => stdout);
    expect([lead.code, lines(printed.join(''))]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('prints only the output of the command if quiet is set', async () => {
    const { lead, workers } = await cluster(
      { command: 'echo hello' },
      { logging: { quiet: true } },
    ).toTheEnd();
    expect([lead.stdout, lead.stderr, workers[0]!.stderr]).toEqual(['hello\n', '', '']);
  });

  test('supports the strict, debug, timed and zeromq logging options and all command blocks', async () => {
    const blocks = ['init', 'pre', 'brokerPre', 'workerPre', 'post'];
    const commands = Object.fromEntries(blocks.map((name) => [name, `echo ${name}`]));
    const { lead, workers } = await cluster(
      { command: 'echo hello', commands: { ...commands, prefix: 'env WRAPPED=1' } },
      { logging: { strict: true, debug: true, timed: true, zeromq: true } },
    ).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['brokerPre', 'hello', 'init', 'post', 'pre']]);
    expect(lines(workers[0]!.stdout)).toEqual(['init', 'post', 'pre', 'workerPre']);
    expect(lead.stderr).toMatch(/FLUXTIME/);
  });

  test('runs jobs that are submitted to an interactive cluster until it is shut down', async () => {
    const [lead] = await cluster({}, { size: 3 }).startAll();
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
    expect(lines(await inLead('flux', 'run', '-N3', 'hostname'))).toEqual(['mc-0', 'mc-1', 'mc-2']);
    // The shutdown also ends the proxy, which then fails; only the exit code of the lead broker counts.
    await inLead('flux', 'shutdown', '--quiet').catch(() => undefined);
    expect((await lead!.ended).code).toBe(0);
  });

  test('runs restricted pods: as another user, with a read-only root and without capabilities', async () => {
    const { lead, workers } = await cluster(
      { command: 'id -u' },
      { pod: { restricted: true }, tasks: 2 },
    ).toTheEnd();
    expect([lead.code, lead.stdout, workers[0]!.code]).toEqual([0, '1000\n1000\n', 143]);
  });

  test('runs as the user of the security context', async () => {
    const pod = { securityContext: { runAsUser: 12345 } };
    const { lead } = await cluster({ command: 'id -u' }, { pod }).toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, '12345\n']);
  });

  test('registers the cores of the spec and does not pin tasks to cores', async () => {
    const command = 'grep Cpus_allowed_list /proc/self/status';
    const { lead } = await cluster(
      { command, resources: { requests: { cpu: '1' } } },
      { tasks: 2 },
    ).toTheEnd();
    expect(new Set(lines(lead.stdout)).size).toBe(1);
    expect(lead.stdout).toMatch(/:\t0-/);
    await boot.remove();
    await cluster(
      { resources: { limits: { cpu: '3500m' } } },
      { size: 2, maxSize: 4, minSize: 2 },
    ).startAll();
    await waitFor('two nodes', async () => (await nodesUp()) === 2);
    expect(await inLead('flux', 'resource', 'list', '-s', 'all', '-no', '{nnodes}:{ncores}')).toBe('4:12');
  });

  test('reconnects the workers to a restarted lead broker', async () => {
    const mc = cluster({}, { size: 3 });
    const [lead] = await mc.startAll();
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
    lead!.process.kill('SIGKILL');
    await lead!.ended;
    await mc.start(0);
    await waitFor('three nodes again', async () => (await nodesUp()) === 3);
    expect(lines(await inLead('flux', 'run', '-N3', 'hostname'))).toHaveLength(3);
  });

  test('grows up to its maximum size and shrinks', async () => {
    const mc = cluster({ resources: { requests: { cpu: '1' } } }, { size: 2, minSize: 2, maxSize: 4 });
    await mc.startAll();
    await waitFor('two nodes', async () => (await nodesUp()) === 2);
    await Promise.all([2, 3].map((index) => mc.start(index)));
    await waitFor('four nodes', async () => (await nodesUp()) === 4);
    expect(lines(await inLead('flux', 'run', '-N4', 'hostname'))).toHaveLength(4);
    await mc.terminate(3);
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
  });

  test('registers the cores of the machine for all pods, including future ones, if the spec has none', async () => {
    await cluster({}, { size: 1, minSize: 1, maxSize: 3 }).startAll();
    await waitFor('a node', async () => (await nodesUp()) === 1);
    expect(await inLead('flux', 'resource', 'list', '-s', 'all', '-no', '{nnodes}')).toBe('3');
  });

  test('reaches workers only through the lead broker with a minimal service', async () => {
    const { lead } = await cluster(
      { command: 'hostname' },
      { tasks: 2, flux: { minimalService: true } },
    ).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('uses the simple scheduler if the spec requests it', async () => {
    const command = 'flux module list';
    const container: Container = { command, launcher: true };
    const { lead } = await cluster(container, { flux: { scheduler: { simple: true } } }).toTheEnd();
    expect(lead.stdout).toMatch(/sched-simple/);
  });

  (hasFluxion ? test : test.skip)('uses Fluxion with the policies of the spec', async () => {
    const scheduler = { queuePolicy: 'easy', matchPolicy: 'lonodex' };
    const command = 'flux module stats sched-fluxion-qmanager; flux ion-resource params';
    const { lead } = await cluster({ command, launcher: true }, { flux: { scheduler } }).toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, expect.stringContaining('lonodex')]);
    expect(lead.stdout).toContain('"policy": "easy"');
  });

  test('lets a sidecar use Flux once the socket exists', async () => {
    const shared = { volumes: { shared: { path: '/shared' } } };
    const containers = [
      {
        image: 'app',
        name: 'main',
        runFlux: true,
        command: 'sh -c "until grep . /shared/from; do sleep 0.1; done"',
        ...shared,
      },
      {
        image: 'app',
        name: 'side',
        command: 'flux proxy "$fluxsocket" flux run hostname >/shared/from',
        ...shared,
      },
    ];
    const { lead } = await cluster({}, { size: 1, containers }).toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, 'mc-0\n']);
  });

  test.each(['archive.tar', 'archive.tar.gz', 'archive'])(
    'restores the jobs of an earlier cluster from %s',
    async (name) => {
      const state = mkdtempSync(join(tmpdir(), 'fluxqueue-state-'));
      const volumes = { state: { path: '/state', hostPath: state } };
      const more: Partial<MiniClusterSpec> = { archive: { path: `/state/${name}` } };
      for (const [command, printed] of [
        ['echo first', 'first\n'],
        ["flux jobs -ano '{name}'", 'echo\n'],
        ["flux jobs -ano '{name}'", 'echo\n'],
      ] as const) {
        const { lead } = await cluster(
          { command, volumes, launcher: command.startsWith('flux') },
          more,
        ).toTheEnd();
        expect([lead.code, lead.stdout]).toEqual([0, printed]);
        await boot.remove();
      }
      rmSync(state, { recursive: true });
    },
  );

  test('runs in the host network with the host names of the nodes', async () => {
    const { lead } = await cluster(
      { command: 'hostname' },
      { tasks: 2, pod: { hostNetwork: true } },
    ).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['node-0', 'node-1']]);
  });

  test('uses a custom broker configuration', async () => {
    const brokerConfig = manifests({ size: 2, containers: [{ image: 'app' }] }, 'lab')
      .map(({ data }) => (data as Record<string, string> | undefined)?.['config_broker.toml'])
      .find((text) => text !== undefined)!;
    const { lead } = await cluster({ command: 'hostname' }, { tasks: 2, flux: { brokerConfig } }).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('passes broker options, submit options and environment variables', async () => {
    const flux = {
      optionFlags: '-o verbose=1',
      submitCommand: 'flux run --label-io',
      environment: { FOR_SHELLS: 'b' },
      wrap: 'env,WRAPPED=c',
    };
    const command = '. /mnt/flux/flux-view.sh; echo $ONE $FOR_SHELLS $WRAPPED';
    const { lead } = await cluster({ command, environment: { ONE: 'a' } }, { flux, tasks: 2 }).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['0: a b c', '1: a b c']]);
  });

  test('accepts brokers of another cluster', async () => {
    const flux = { container: { disable: true }, bursting: { clusters: [{ name: 'burst', size: 1 }] } };
    await cluster({ resources: { requests: { cpu: '1' } } }, { size: 1, minSize: 1, flux }).startAll();
    await waitFor('a node', async () => (await nodesUp()) === 1);
    const leadBroker = { address: boot.network.address(0), name: 'mc', port: 8050, size: 1 };
    const spec = {
      size: 1,
      containers: [{ image: 'app', resources: { requests: { cpu: '1' } } }],
      flux: { container: { disable: true }, bursting: { leadBroker }, curveCertSecret: 'mc-curve' },
    };
    const burst = new Pods(manifests(spec, 'lab', 'burst'), () => WITH_FLUX, boot.network, 8);
    try {
      await burst.startAll();
      await waitFor('two nodes', async () => (await nodesUp()) === 2);
      expect(lines(await inLead('flux', 'run', '-N2', 'hostname'))).toEqual(['burst-0', 'mc-0']);
    } finally {
      await burst.remove();
    }
  });

  test('accepts a certificate that flux keygen wrote', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fluxqueue-keygen-')), 'curve.cert');
    execFileSync(`${FLUX}/bin/flux`, ['keygen', '--name', 'mc', file]);
    expect(() => checkCertificate(readFileSync(file, 'utf8'), 'test')).not.toThrow();
    rmSync(dirname(file), { recursive: true });
  });
});
