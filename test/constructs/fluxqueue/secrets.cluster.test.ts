// Own cluster: whole stacks are applied to it.
/** The Secrets of the stack: the components create them again after a deletion, and no other Secrets. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { linkSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePassword } from '../../../runtime/cli/database-password';
import { createClient } from '../../../runtime/kubernetes/client';
import { createLogger, type Logger } from '../../../runtime/observability/log';
import { startWebhookRole } from '../../../runtime/roles/webhook';
import type { KubeObject } from '../../cluster/cluster';
import { describeOwnCluster } from '../../cluster/suite';
import { waitFor } from '../../cluster/wait';
import { recordingLogger } from '../../kubernetes/recording-logger';
import { find, stackObjects } from '../manifests';
import { webhookConfig } from './webhook-configuration';

describeOwnCluster('the Secrets of the stack', (getCluster) => {
  const SYSTEM = 'fluxqueue-system';
  const path = (name: string) => `/api/v1/namespaces/${SYSTEM}/secrets/${name}`;
  const account = async (name: string) =>
    createClient({ kubeconfig: await getCluster().kubeconfigForServiceAccount(name, SYSTEM) });

  test('the webhook creates its Secret with the rights of its account', async () => {
    const objects = stackObjects();
    await getCluster().apply(objects);
    await getCluster().api.send('DELETE', path('fluxqueue-webhook-tls'));
    const config = await webhookConfig(getCluster(), objects);
    const role = await startWebhookRole(config, createLogger('test', 'silent'));
    try {
      const { data } = await getCluster().get<{ data: object }>(path('fluxqueue-webhook-tls'));
      expect(Object.keys(data).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    } finally {
      await role.stop();
    }
  });

  test('a webhook without the right to create its Secret reports the missing Secret and starts when the stack is applied', async () => {
    const objects = stackObjects();
    await getCluster().apply(objects);
    await getCluster().api.send('DELETE', path('fluxqueue-webhook-tls'));
    const role = find<{ rules: { resourceNames?: string[] }[] } & KubeObject>(
      objects,
      'Role',
      'fluxqueue-webhook',
    );
    const rules = role.rules.filter(({ resourceNames }) => resourceNames !== undefined);
    await getCluster().apply([{ ...role, rules }]);
    const logger = recordingLogger();
    const starting = startWebhookRole(
      await webhookConfig(getCluster(), objects),
      logger as unknown as Logger,
    );
    await waitFor('the sentence', () =>
      JSON.stringify(logger.lines).includes(
        'FLUXQ_SECRET_MISSING: Secret fluxqueue-system/fluxqueue-webhook-tls: does not exist',
      ),
    );
    await getCluster().apply(objects);
    await (await starting).stop();
  });

  /** The init container of the database with its own rights. */
  async function initContainer() {
    await getCluster().apply(stackObjects());
    const client = await account('fluxqueue-database');
    const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-password-'));
    const options = { client, namespace: SYSTEM, secret: 'fluxqueue-database' };
    const file = (name: string) => readFileSync(join(folder, name), 'utf8');
    return {
      folder,
      file,
      /** Runs it and returns the password that it wrote. */
      async run(url = 'postgres://u@h.fluxqueue-system.svc/d'): Promise<string> {
        await ensurePassword({ ...options, url, folder });
        return file('password');
      },
      async secret(key: string): Promise<string> {
        const { data } = await getCluster().get<{ data: Record<string, string> }>(path('fluxqueue-database'));
        return Buffer.from(data[key] ?? '', 'base64').toString();
      },
      remove() {
        client.close();
        rmSync(folder, { recursive: true });
      },
    };
  }

  test('the init container of the database creates its Secret with a new password, and does not change an existing one', async () => {
    const init = await initContainer();
    const first = await init.run();
    // The second start in the same pod replaces the file, which is read-only.
    linkSync(join(init.folder, 'password'), join(init.folder, 'earlier'));
    expect(await init.run()).toBe(first);
    expect(statSync(join(init.folder, 'password')).nlink).toBe(1);
    await getCluster().api.send('DELETE', path('fluxqueue-database'));
    const second = await init.run();
    expect(second).not.toBe(first);
    expect(await init.run()).toBe(second);
    expect(await init.secret('url')).toBe(`postgres://u:${second}@h.fluxqueue-system.svc/d`);
    init.remove();
  });

  test('the init container of the database makes a certificate for the names of its Service, and keeps it', async () => {
    const init = await initContainer();
    await init.run();
    const certificate = new X509Certificate(init.file('tls.crt'));
    for (const name of ['h', 'h.fluxqueue-system', 'h.fluxqueue-system.svc'])
      expect(certificate.checkHost(name)).toBe(name);
    expect(certificate.checkHost('other.fluxqueue-system.svc')).toBeUndefined();
    expect(certificate.checkPrivateKey(createPrivateKey(init.file('tls.key')))).toBe(true);
    expect(certificate.verify(new X509Certificate(await init.secret('ca.crt')).publicKey)).toBe(true);
    expect(statSync(join(init.folder, 'tls.key')).mode & 0o777).toBe(0o400);
    const before = init.file('tls.crt');
    await init.run();
    expect(init.file('tls.crt')).toBe(before);
    // Another address needs another certificate; the CA of the present one stays trusted.
    const ca = await init.secret('ca.crt');
    await init.run('postgres://u@new.fluxqueue-system.svc/d');
    expect(new X509Certificate(init.file('tls.crt')).checkHost('new')).toBe('new');
    expect(await init.secret('ca.crt')).toContain(ca.trim());
    init.remove();
  });

  test('the init container of the database keeps the password and replaces role and address of an earlier version', async () => {
    const init = await initContainer();
    const earlier = { password: 'kept', url: 'postgres://owner:kept@old.ns.svc:5432/d' };
    const data = Object.fromEntries(
      Object.entries(earlier).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    await getCluster().request('PATCH', path('fluxqueue-database'), { data }, 'application/merge-patch+json');
    expect(await init.run('postgres://runtime@new.ns.svc:5432/d?sslmode=verify-full')).toBe('kept');
    expect(await init.secret('url')).toBe('postgres://runtime:kept@new.ns.svc:5432/d?sslmode=verify-full');
    init.remove();
  });

  test.each([
    ['fluxqueue-webhook', 'another', 'Opaque'],
    ['fluxqueue-webhook', 'fluxqueue-database', 'Opaque'],
    ['fluxqueue-webhook', 'fluxqueue-webhook-tls', 'kubernetes.io/service-account-token'],
    ['fluxqueue-database', 'another', 'Opaque'],
    ['fluxqueue-database', 'fluxqueue-database', 'kubernetes.io/service-account-token'],
  ])('%s cannot create the Secret %s of type %s', async (name, secret, type) => {
    await getCluster().apply(stackObjects());
    for (const each of ['fluxqueue-webhook-tls', 'fluxqueue-database'])
      await getCluster().api.send('DELETE', path(each));
    const client = await account(name);
    const annotations = { 'kubernetes.io/service-account.name': 'fluxqueue-controller' };
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, namespace: SYSTEM, annotations },
      type,
    };
    // The apiserver applies a new policy after a short delay.
    await waitFor('the policy', () =>
      client.create(`/api/v1/namespaces/${SYSTEM}/secrets`, object).then(
        () =>
          getCluster()
            .api.send('DELETE', path(secret))
            .then(() => false),
        (error: unknown) => String(error).includes('this ServiceAccount can only create its own Secret'),
      ),
    );
    client.close();
  });
});
