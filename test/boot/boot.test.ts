/**
 * Rendered clusters, booted with a real Flux: pods are sandboxes of this machine. Runs where there is a Flux
 * (`FLUX_PREFIX`, or `flux` in PATH), bubblewrap, and the right to make networks; elsewhere it is skipped, and
 * the scripts are held to a fake flux alone.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { ManifestObject, MiniClusterSpec } from '../../constructs/minicluster';
import { render } from '../../runtime/cli/render';
import { checkCertificate, makeCertificate } from '../../runtime/miniclusters/curve';
import { waitFor } from '../cluster/wait';
import { Network } from './network';
import { type Image, Pods } from './pods';

const FLUX = fluxPrefix();
const can =
  FLUX !== undefined && process.getuid?.() === 0 && ['bwrap', 'ip', 'nsenter', 'setpriv'].every(found);

function fluxPrefix(): string | undefined {
  const { FLUX_PREFIX } = process.env;
  if (FLUX_PREFIX !== undefined) return FLUX_PREFIX;
  const { stdout } = spawnSync('sh', ['-c', 'command -v flux'], { encoding: 'utf8' });
  return stdout === '' ? undefined : dirname(dirname(stdout.trim()));
}

function found(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

const WITHOUT: Image = { folders: {} };
const WITH: Image = { folders: { [FLUX ?? '']: FLUX ?? '' }, path: [`${FLUX}/bin`] };
const fluxion = existsSync(`${FLUX}/lib/flux/modules/sched-fluxion-qmanager.so`);
/** Laid out as the published view: what it was built as, in /opt/software, and a tree of it in /opt/view. */
const VIEW: Image = { folders: { '/opt/software': '/opt/software', '/opt/view': FLUX ?? '' } };

let network: Network;
let pods: Pods | undefined;

async function remove(): Promise<void> {
  await pods?.remove();
  pods = undefined;
}

const CERTIFICATE = makeCertificate({ name: 'mc', hostname: 'test', madeAt: new Date(0) });

/** The manifests as `fluxqueue render` prints them, and the Secret that they wait for. */
function manifests(spec: object, namespace?: string, name = 'mc'): ManifestObject[] {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const resource = { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', metadata, spec };
  const { yaml } = render({ text: stringify(resource), source: 'test' });
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as ManifestObject);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mc-curve' } };
  return [...documents, { ...secret, data: { 'curve.cert': CERTIFICATE } }];
}

type Container = Partial<MiniClusterSpec['containers'][number]>;

/** A cluster whose image has Flux, unless it says otherwise. */
function cluster(container: Container, more: Partial<MiniClusterSpec> = {}): Pods {
  const { flux = {}, ...rest } = more;
  const spec = {
    size: 2,
    containers: [{ image: 'app', ...container }],
    flux: { container: { disable: true }, ...flux },
    ...rest,
  };
  pods = new Pods(manifests(spec, 'lab'), () => WITH, network);
  return pods;
}

const SOCKET = 'local:///mnt/flux/config/run/flux/local';

/** A flux command in pod 0, as a user's `kubectl exec` would run it. */
async function inLead(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await pods!.exec(0, [`${FLUX}/bin/flux`, 'proxy', SOCKET, ...words]);
  if (code !== 0) throw new Error(`${words.join(' ')}: ${code}: ${stderr}`);
  return stdout.trim();
}

/** How many nodes the instance has up. */
async function nodesUp(): Promise<number> {
  const words = ['flux', 'resource', 'list', '-s', 'free', '-no', '{nnodes}'];
  return Number(await inLead(...words).catch(() => '0'));
}

const lines = (text: string) => text.trim().split('\n').sort();

(can ? describe : describe.skip)('with a real Flux', () => {
  beforeAll(() => {
    network = new Network();
  });
  afterEach(remove);
  afterAll(() => network.remove());

  test.each<[string, Image]>([
    ['in the image', WITH],
    ['from the view', WITHOUT],
  ])('an image and a command are enough: Flux %s', async (_, image) => {
    const spec = { size: 4, containers: [{ image: 'app', command: 'hostname' }] };
    pods = new Pods(manifests(spec), (name) => (name === 'app' ? image : VIEW), network);
    const { lead, workers } = await pods.toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, expect.stringMatching(/^mc-[0-3]\n$/)]);
    expect(workers.map(({ code }) => code)).toEqual([143, 143, 143]);
    expect(lead.stderr).toContain('quorum-full');
  });

  test('a task on each node', async () => {
    const { lead } = await cluster({ command: 'hostname' }, { size: 4, tasks: 4 }).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1', 'mc-2', 'mc-3']]);
  });

  test.each<[string, Container]>([
    ['a program', { command: "sh -c 'exit 3'" }],
    ['a script', { commands: { script: 'exit 3\n' } }],
    ['a launcher', { command: "flux run -n2 sh -c 'exit 3'", launcher: true }],
    ['a batch script', { command: '#!/bin/sh\nflux run sh -c "exit 3"\n', batchRaw: true }],
  ])('the exit code is that of %s', async (_, container) => {
    const { lead } = await cluster(container).toTheEnd();
    expect(lead.code).toBe(3);
  });

  test('batch: every line a job, a failed one fails the whole', async () => {
    const command = 'echo one\n-n1 hostname\nsh -c "exit 4"\n';
    const post = 'cat /tmp/fluxout/*.out';
    const { lead } = await cluster({ command, batch: true, commands: { post } }, { size: 1 }).toTheEnd();
    expect(lead.code).not.toBe(0);
    expect(lines(lead.stdout).filter((line) => /^(one|mc-0)$/.test(line))).toEqual(['mc-0', 'one']);
  });

  test('batch over several nodes, quiet', async () => {
    const command = '-N2 -n2 hostname\n';
    const post = 'cat /tmp/fluxout/*.out';
    const more = { tasks: 0, logging: { quiet: true } };
    const { lead, workers } = await cluster({ command, batch: true, commands: { post } }, more).toTheEnd();
    const printed = [lead, ...workers].map(({ stdout }) => stdout);
    expect([lead.code, lines(printed.join(''))]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('quiet: nothing but what the command prints', async () => {
    const { lead, workers } = await cluster(
      { command: 'echo hello' },
      { logging: { quiet: true } },
    ).toTheEnd();
    expect([lead.stdout, lead.stderr, workers[0]!.stderr]).toEqual(['hello\n', '', '']);
  });

  test('strict, debug, timed, zeromq and blocks', async () => {
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

  test('interactive: jobs from outside, then shut down', async () => {
    const [lead] = await cluster({}, { size: 3 }).startAll();
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
    expect(lines(await inLead('flux', 'run', '-N3', 'hostname'))).toEqual(['mc-0', 'mc-1', 'mc-2']);
    // The proxy that it came through is cut off by it and says so; the lead's end is what counts.
    await inLead('flux', 'shutdown', '--quiet').catch(() => undefined);
    expect((await lead!.ended).code).toBe(0);
  });

  test('restricted: another user, a root that is read-only, no capabilities', async () => {
    const { lead, workers } = await cluster(
      { command: 'id -u' },
      { pod: { restricted: true }, tasks: 2 },
    ).toTheEnd();
    expect([lead.code, lead.stdout, workers[0]!.code]).toEqual([0, '1000\n1000\n', 143]);
  });

  test('a user without restrictions', async () => {
    const pod = { securityContext: { runAsUser: 12345 } };
    const { lead } = await cluster({ command: 'id -u' }, { pod }).toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, '12345\n']);
  });

  test('cores are those of the spec, and no task is pinned to one', async () => {
    const command = 'grep Cpus_allowed_list /proc/self/status';
    const { lead } = await cluster(
      { command, resources: { requests: { cpu: '1' } } },
      { tasks: 2 },
    ).toTheEnd();
    expect(new Set(lines(lead.stdout)).size).toBe(1);
    expect(lead.stdout).toMatch(/:\t0-/);
    await remove();
    await cluster(
      { resources: { limits: { cpu: '3500m' } } },
      { size: 2, maxSize: 4, minSize: 2 },
    ).startAll();
    await waitFor('two nodes', async () => (await nodesUp()) === 2);
    expect(await inLead('flux', 'resource', 'list', '-s', 'all', '-no', '{nnodes}:{ncores}')).toBe('4:12');
  });

  test('a retried lead gets its workers back', async () => {
    const mc = cluster({}, { size: 3 });
    const [lead] = await mc.startAll();
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
    lead!.process.kill('SIGKILL');
    await lead!.ended;
    await mc.start(0);
    await waitFor('three nodes again', async () => (await nodesUp()) === 3);
    expect(lines(await inLead('flux', 'run', '-N3', 'hostname'))).toHaveLength(3);
  });

  test('grows to what it was told it may, and shrinks', async () => {
    const mc = cluster({ resources: { requests: { cpu: '1' } } }, { size: 2, minSize: 2, maxSize: 4 });
    await mc.startAll();
    await waitFor('two nodes', async () => (await nodesUp()) === 2);
    await Promise.all([2, 3].map((index) => mc.start(index)));
    await waitFor('four nodes', async () => (await nodesUp()) === 4);
    expect(lines(await inLead('flux', 'run', '-N4', 'hostname'))).toHaveLength(4);
    await mc.terminate(3);
    await waitFor('three nodes', async () => (await nodesUp()) === 3);
  });

  test('cores that nobody named are those of the machine, also of pods that are not there yet', async () => {
    await cluster({}, { size: 1, minSize: 1, maxSize: 3 }).startAll();
    await waitFor('a node', async () => (await nodesUp()) === 1);
    expect(await inLead('flux', 'resource', 'list', '-s', 'all', '-no', '{nnodes}')).toBe('3');
  });

  test('a minimal service: workers are reached through the lead alone', async () => {
    const { lead } = await cluster(
      { command: 'hostname' },
      { tasks: 2, flux: { minimalService: true } },
    ).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('the simple scheduler, where it is asked for', async () => {
    const command = 'flux module list';
    const container: Container = { command, launcher: true };
    const { lead } = await cluster(container, { flux: { scheduler: { simple: true } } }).toTheEnd();
    expect(lead.stdout).toMatch(/sched-simple/);
  });

  (fluxion ? test : test.skip)('Fluxion, with the policies asked for', async () => {
    const scheduler = { queuePolicy: 'easy', matchPolicy: 'lonodex' };
    const command = 'flux module stats sched-fluxion-qmanager; flux ion-resource params';
    const { lead } = await cluster({ command, launcher: true }, { flux: { scheduler } }).toTheEnd();
    expect([lead.code, lead.stdout]).toEqual([0, expect.stringContaining('lonodex')]);
    expect(lead.stdout).toContain('"policy": "easy"');
  });

  test('a sidecar waits for the socket and uses Flux', async () => {
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
    'what a cluster did is known to the next by %s',
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
        await remove();
      }
      rmSync(state, { recursive: true });
    },
  );

  test('in the network of the nodes, whose names the hosts have', async () => {
    const { lead } = await cluster(
      { command: 'hostname' },
      { tasks: 2, pod: { hostNetwork: true } },
    ).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['node-0', 'node-1']]);
  });

  test('a broker of its own configuration', async () => {
    const brokerConfig = manifests({ size: 2, containers: [{ image: 'app' }] }, 'lab')
      .map(({ data }) => (data as Record<string, string> | undefined)?.['config_broker.toml'])
      .find((text) => text !== undefined)!;
    const { lead } = await cluster({ command: 'hostname' }, { tasks: 2, flux: { brokerConfig } }).toTheEnd();
    expect([lead.code, lines(lead.stdout)]).toEqual([0, ['mc-0', 'mc-1']]);
  });

  test('options of the broker, of submit, of the environment', async () => {
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

  test('brokers of another cluster join', async () => {
    const flux = { container: { disable: true }, bursting: { clusters: [{ name: 'burst', size: 1 }] } };
    await cluster({ resources: { requests: { cpu: '1' } } }, { size: 1, minSize: 1, flux }).startAll();
    await waitFor('a node', async () => (await nodesUp()) === 1);
    const leadBroker = { address: network.address(0), name: 'mc', port: 8050, size: 1 };
    const spec = {
      size: 1,
      containers: [{ image: 'app', resources: { requests: { cpu: '1' } } }],
      flux: { container: { disable: true }, bursting: { leadBroker }, curveCertSecret: 'mc-curve' },
    };
    const burst = new Pods(manifests(spec, 'lab', 'burst'), () => WITH, network, 8);
    try {
      await burst.startAll();
      await waitFor('two nodes', async () => (await nodesUp()) === 2);
      expect(lines(await inLead('flux', 'run', '-N2', 'hostname'))).toEqual(['burst-0', 'mc-0']);
    } finally {
      await burst.remove();
    }
  });

  test('what `flux keygen` writes is a certificate to us too', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fluxqueue-keygen-')), 'curve.cert');
    execFileSync(`${FLUX}/bin/flux`, ['keygen', '--name', 'mc', file]);
    expect(() => checkCertificate(readFileSync(file, 'utf8'), 'it')).not.toThrow();
    rmSync(dirname(file), { recursive: true });
  });
});
