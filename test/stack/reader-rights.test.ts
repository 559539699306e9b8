// Own cluster: the read API, and an audit log.
/** The reader runs with exactly the rights of the manifests, and its questions use every one of them (see rights.test.ts). */
import {
  READ_GROUP,
  READ_VERSION,
  READER_SECRET,
  READER_SERVICE_ACCOUNT,
  STACK_NAMESPACE,
} from '../../constructs/api/labels';
import { secrets } from '../../runtime/kubernetes/paths';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { stackObjects } from '../constructs/manifests';
import { applyStandIns } from '../kinds/stand-in';
import { send } from '../reader/requests';
import { accountsOf, RightsAudit } from './audited-rights';
import type { RoleProcess } from './roles';
import { runtimeUrl } from './runtime-role';
import { describeOwnStack } from './suite';

const audit = new RightsAudit();
const objects = stackObjects();
const DATABASE = 'fluxqueue-database';
const API = `/apis/${READ_GROUP}/${READ_VERSION}`;
/** Of the Role extension-apiserver-authentication-reader, which may also `get`. */
const FRONT_PROXY = ['list configmaps', 'watch configmaps'];

describeOwnStack(
  'the rights of the reader',
  (getFixture) => {
    beforeAll(async () => {
      const { stack, client } = getFixture();
      // The suite's stack has its runtime outside; these are the accounts of the stack that is deployed.
      await stack.cluster.apply(accountsOf(objects));
      const url = Buffer.from(await runtimeUrl(stack.postgres.url)).toString('base64');
      await client.patch(secrets(STACK_NAMESPACE, DATABASE), { data: { url, 'ca.crt': '' } }, 'merge');
    });
    afterAll(() => audit.remove());

    async function startReader(): Promise<RoleProcess> {
      const { stack } = getFixture();
      const { cluster, readerPort } = stack;
      const role = await stack.roles.start('reader', {
        kubernetes: {
          kubeconfig: await cluster.kubeconfigForServiceAccount(READER_SERVICE_ACCOUNT, STACK_NAMESPACE),
        },
        database: { secret: { namespace: STACK_NAMESPACE, name: DATABASE, key: 'url' }, migrate: false },
        reader: { host: '127.0.0.1', port: readerPort, drainSeconds: 0 },
      });
      await waitFor('the reader', () => role.isReady());
      return role;
    }

    /** A question at the port, with a token. */
    async function ask(path: string, more: { method?: string; body?: string; signal?: AbortSignal } = {}) {
      const { stack } = getFixture();
      const { data } = await stack.cluster.get<KubeObject & { data: Record<string, string> }>(
        secrets(STACK_NAMESPACE, READER_SECRET),
      );
      return send(`${API}/${path}`, {
        port: stack.readerPort,
        ca: Buffer.from(data['ca.crt']!, 'base64').toString(),
        servername: `fluxqueue-reader.${STACK_NAMESPACE}.svc`,
        headers: { authorization: `Bearer ${stack.cluster.token('admin')}` },
        ...more,
      });
    }

    test('its questions use all of its rights and need no other', async () => {
      await applyStandIns(getFixture().stack.cluster, 'default');
      await getFixture().stack.namespace('science');
      await (await startReader()).stop();
      await getFixture().client.delete(secrets(STACK_NAMESPACE, READER_SECRET));
      const reader = await startReader();
      const left = new AbortController();
      const page = ask('dashboards/queue/proxy/events', { signal: left.signal });
      const containers = [{ name: 'main', image: 'none' }];
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'asked' }, spec: { containers } };
      const body = JSON.stringify({ spec: { object } });
      expect((await ask('namespaces/science/whatifs', { method: 'POST', body })).status).toBe(201);
      // Nothing waits there.
      expect((await ask('namespaces/default/whatifs', { method: 'POST', body })).status).toBe(400);
      for (const list of ['plans', 'priorities', 'usages', 'traces', 'nodereports'])
        expect([list, (await ask(list)).status]).toEqual([list, 200]);
      await audit.expectUsed(READER_SERVICE_ACCOUNT, objects, FRONT_PROXY);
      left.abort();
      await expect(page).rejects.toThrow('aborted');
      await reader.stop();
    });
  },
  { cluster: { nodes: 1, apiserverArgs: audit.apiserverArgs }, readApi: true, createsMiniClusters: false },
);
