/** The Secrets of the stack: the components create them again after a deletion, and no other Secrets. */
import { linkSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePassword } from '../../../runtime/cli/database-password';
import { createClient } from '../../../runtime/kubernetes/client';
import { createLogger, type Logger } from '../../../runtime/observability/log';
import { startWebhookRole } from '../../../runtime/roles/webhook';
import type { KubeObject } from '../../cluster/cluster';
import { describeCluster } from '../../cluster/suite';
import { waitFor } from '../../cluster/wait';
import { recordingLogger } from '../../kubernetes/recording-logger';
import { find, stackObjects } from '../manifests';
import { webhookConfig } from './webhook-configuration';

describeCluster(
  'the Secrets of the stack',
  (getCluster) => {
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

    test('the init container of the database creates its Secret with a new password, and does not change an existing one', async () => {
      await getCluster().apply(stackObjects());
      const client = await account('fluxqueue-database');
      const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-password-'));
      const options = { client, namespace: SYSTEM, secret: 'fluxqueue-database', url: 'postgres://u@h/d' };
      const ensure = async (file: string) => {
        await ensurePassword({ ...options, file: join(folder, file) });
        return readFileSync(join(folder, file), 'utf8');
      };
      const first = await ensure('first');
      // The second start in the same pod replaces the file, which is read-only.
      linkSync(join(folder, 'first'), join(folder, 'earlier'));
      expect(await ensure('first')).toBe(first);
      expect(statSync(join(folder, 'first')).nlink).toBe(1);
      await getCluster().api.send('DELETE', path('fluxqueue-database'));
      const second = await ensure('second');
      expect(second).not.toBe(first);
      expect(await ensure('again')).toBe(second);
      const { data } = await getCluster().get<{ data: Record<string, string> }>(path('fluxqueue-database'));
      expect(Buffer.from(data.url ?? '', 'base64').toString()).toBe(`postgres://u:${second}@h/d`);
      client.close();
      rmSync(folder, { recursive: true });
    });

    test('the init container of the database keeps the password and replaces the address of an earlier version', async () => {
      await getCluster().apply(stackObjects());
      const client = await account('fluxqueue-database');
      const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-password-'));
      const file = join(folder, 'password');
      const options = { client, namespace: SYSTEM, secret: 'fluxqueue-database', file };
      const readUrl = async () => {
        const { data } = await getCluster().get<{ data: Record<string, string> }>(path('fluxqueue-database'));
        return Buffer.from(data.url ?? '', 'base64').toString();
      };
      await ensurePassword({ ...options, url: 'postgres://u@old.ns.svc:5432/d' });
      const password = readFileSync(file, 'utf8');
      expect(await readUrl()).toBe(`postgres://u:${password}@old.ns.svc:5432/d`);
      await ensurePassword({ ...options, url: 'postgres://u@new.ns.svc:5432/d' });
      expect(readFileSync(file, 'utf8')).toBe(password);
      expect(await readUrl()).toBe(`postgres://u:${password}@new.ns.svc:5432/d`);
      client.close();
      rmSync(folder, { recursive: true });
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
  },
  { scheduler: false },
);
