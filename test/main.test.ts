// Own cluster: its Postgres is killed.
/** The bundled program: its messages and its exit code when something is wrong. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { bundleRuntime } from '../release/bundle';
import type { ConfigInput } from '../runtime/config';
import { leases } from '../runtime/kubernetes/paths';
import type { Lease } from '../runtime/kubernetes/types';
import { waitFor } from './cluster/wait';
import { Roles } from './stack/roles';
import { RUNTIME_ROLE } from './stack/runtime-role';
import { describeOwnStack } from './stack/suite';
import { Namespace } from './stack/workloads';
import { NOBODY, UNREACHABLE_KUBECONFIG } from './unreachable';

describe('a role that can not start', () => {
  let roles: Roles;
  let folder: string;
  beforeAll(() => {
    roles = new Roles();
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-main-'));
  });
  afterAll(async () => {
    await roles.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs a role until it exits, and returns its log. */
  async function ended(name: string, config: unknown, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const role = await roles.start(name, config as ConfigInput, environment);
    expect(await role.process.exited).toBe('exit code 1');
    return role.process.logTail();
  }

  test.each([
    ['a wrong type', { units: { cpuMillis: 'all' } }, 'FLUXQ_CONFIG_INVALID: units.cpuMillis: '],
    [
      'no database',
      {},
      'FLUXQ_CONFIG_INVALID: database.url: is missing; set DATABASE_URL, or database.secret to the key of a Secret',
    ],
  ])('%s ends the role with one sentence', async (_, config, sentence) => {
    const said = await ended('controller', config, { DATABASE_URL: '' });
    expect(said).toContain(sentence);
    expect(said).not.toMatch(/\n\s+at /);
  });

  test('an unknown setting, as of a newer version, ends no role and is in its log', async () => {
    const role = await roles.start('fluxion', {
      fluxion: { listen: roles.fluxionAddress, engine: 'embedded', racks: 4 },
    } as ConfigInput);
    await waitFor('the role', () => role.isReady());
    expect(role.process.logTail()).toMatch(
      /"level":40.*the setting fluxion\.racks in .* is not known to this/,
    );
    await role.stop();
  });

  test('a missing or invalid kubeconfig is named', async () => {
    const database = { url: `postgres://u:p@${NOBODY}/d` };
    for (const kubeconfig of ['/nowhere/config', __filename]) {
      const said = await ended('controller', { database, kubernetes: { kubeconfig } });
      expect(said).toMatch(/^FLUXQ_[A-Z_]+: /m);
      expect(said).toContain(kubeconfig);
    }
  });

  test('ends as told also while it waits for the apiserver, before it has started', async () => {
    const kubeconfig = join(folder, 'unreachable');
    writeFileSync(kubeconfig, UNREACHABLE_KUBECONFIG);
    const role = await roles.start('webhook', { kubernetes: { kubeconfig } });
    await waitFor('the probes', async () => (await role.notReady()).includes('certificate'));
    await role.stop();
    // The first process of a container ends by no signal that it does not handle.
    expect(await role.process.exited).toBe('exit code 0');
  });

  test('a port in use is named', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    try {
      const kubeconfig = join(folder, 'config');
      writeFileSync(kubeconfig, UNREACHABLE_KUBECONFIG);
      const database = { url: `postgres://u:p@${NOBODY}/d` };
      const environment = { FLUXQUEUE_http_port: String(port) };
      const said = await ended('controller', { database, kubernetes: { kubeconfig } }, environment);
      expect(said).toContain('FLUXQ_PORT_IN_USE: http.port: cannot listen on 127.0.0.1 (EADDRINUSE)');
      expect(said).toContain(`got ${port}`);
    } finally {
      other.close();
    }
  });
});

describe('a command', () => {
  let folder: string;
  let bundle: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-main-'));
    bundle = join(folder, 'runtime.js');
    bundleRuntime(bundle);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('whose output nobody reads ends like other programs, without a word', async () => {
    const child = spawn(process.execPath, [bundle, 'completion', 'bash']);
    child.stdout.destroy();
    const errors = text(child.stderr);
    expect(await once(child, 'exit')).toEqual([141, null]);
    expect(await errors).toBe('');
  });

  test('that fails writes nothing that moves the cursor', async () => {
    const child = spawn(process.execPath, [bundle, 'render', '/nowhere/\u001b[2Jfile']);
    const errors = text(child.stderr);
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(await errors).toMatch(/^FLUXQ_RENDER_INPUT: \/nowhere\/ \[2Jfile: .*\n$/);
  });
});

describeOwnStack(
  'an outage at the start',
  (getFixture) => {
    test('a controller that starts before the Secret of the database has a value waits for it', async () => {
      const { stack } = getFixture();
      const { cluster, postgres, roles } = stack;
      const namespace = 'fluxqueue-system';
      const role = await roles.start(
        'controller',
        {
          kubernetes: { kubeconfig: cluster.kubeconfig },
          database: { secret: { namespace, name: 'late', key: 'url' } },
        },
        { DATABASE_URL: '' },
      );
      await waitFor(
        'readiness to name the database',
        async () => (await role.notReady()) === 'not ready: database\n',
      );
      await waitFor('the log to name the Secret', () =>
        role.process
          .logTail()
          .includes('FLUXQ_SECRET_MISSING: Secret fluxqueue-system/late: has no value for the key url'),
      );
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'late', namespace },
        stringData: { url: postgres.url },
      });
      await waitFor('the controller', () => role.isReady());
      await role.stop();
      expect(await role.process.exited).toBe('exit code 0');
    });

    test('the controller waits for the database and then for Fluxion, and reports both', async () => {
      const { stack, client } = getFixture();
      const { cluster, postgres, roles } = stack;
      await postgres.kill();
      const kubeconfig = await cluster.kubeconfigForServiceAccount(
        'fluxqueue-controller',
        'fluxqueue-system',
      );
      const role = await roles.start(
        'controller',
        { kubernetes: { kubeconfig }, fluxion: { address: NOBODY } },
        { DATABASE_URL: postgres.url },
      );
      await waitFor(
        'readiness to name the database',
        async () => (await role.notReady()) === 'not ready: database\n',
      );
      await waitFor('the log to name the database', () =>
        role.process.logTail().includes('waiting for the database'),
      );
      expect(role.process.logTail()).toContain('FLUXQ_DATABASE_DOWN');

      // Now Fluxion is missing. Nothing is lost meanwhile.
      await postgres.restart();
      const science = await Namespace.create(getFixture, 'science');
      const job = await science.job('early');
      await waitFor('readiness to name Fluxion', async () =>
        (await role.notReady()).includes('FLUXQ_FLUXION'),
      );
      await science.phase(job, 'Waiting');
      await role.stop();
      expect(await role.process.exited).toBe('exit code 0');
      await client.get('/api/v1/namespaces/science');
      const controller = await stack.startController();
      await science.phase(job, 'Finished');
      await controller.stop();
    });

    test('a controller ends when the password was replaced, because the next container gets the new one', async () => {
      const { stack } = getFixture();
      const { postgres } = stack;
      const controller = await stack.startController();
      const alter = async (password: string) => {
        const client = new Client({ connectionString: postgres.url });
        await client.connect();
        await client.query(`ALTER ROLE ${RUNTIME_ROLE} PASSWORD '${password}'`);
        await client.end();
      };
      await alter('another');
      try {
        await postgres.kill();
        await postgres.restart();
        expect(await controller.process.exited).toBe('exit code 1');
        expect(controller.process.logTail()).toContain('FLUXQ_DATABASE_REFUSED');
      } finally {
        await alter(new URL(postgres.url).password);
        await controller.stop();
      }
    });

    test('a controller that crashed leads again at once in the same pod, although its lease has not expired', async () => {
      const { stack, client } = getFixture();
      const leaderElection = { leaseDurationSeconds: 3600, podUid: '5b9a2c1d-3f0c-4f0e-9d6f-0a527d0f8e77' };
      const holder = async () =>
        (await client.get<Lease>(leases('fluxqueue-system', 'fluxqueue-controller'))).spec?.holderIdentity;
      const first = await stack.startController({ leaderElection });
      await waitFor('the first process to lead', holder);
      const dead = await holder();
      await first.crash();
      const night = await Namespace.create(getFixture, 'night');
      const job = await night.job('late');
      const second = await stack.startController({ leaderElection });
      await night.phase(job, 'Finished');
      expect(await holder()).not.toBe(dead);
      await second.stop();
    });
  },
  { cluster: { nodes: 1 }, postgres: { own: true } },
);
