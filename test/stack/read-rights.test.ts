// Own cluster: the read API.
/** Who may ask the read API what, on the real apiserver and at the port of the reader itself. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { READ_GROUP, READER_SECRET, STACK_NAMESPACE } from '../../constructs/api/labels';
import { makeCertificate } from '../../runtime/admission/certificates';
import { jobs, secrets } from '../../runtime/kubernetes/paths';
import type { History } from '../../runtime/reader/kinds';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { type Client, send } from '../reader/requests';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { ADA, giveRole } from './users';

const VIEWER = { name: 'vera', token: 'token-of-vera', groups: [] };
const API = `/apis/${READ_GROUP}/v1alpha1`;
const history = (namespace: string, name: string) => `${API}/namespaces/${namespace}/histories/${name}`;

describeOwnStack(
  'rights on the read API',
  (getFixture) => {
    let reader: RoleProcess;

    beforeAll(async () => {
      const { stack } = getFixture();
      await Promise.all([stack.startController(), stack.startReader().then((role) => (reader = role))]);
      for (const name of ['a', 'b']) await stack.namespace(name);
      await giveRole(stack.cluster, ADA, 'edit', 'a');
      await giveRole(stack.cluster, VIEWER, 'view', 'a');
      for (const name of ['a', 'b']) await stack.cluster.request('POST', jobs(name), job('train'));
      for (const name of ['a', 'b'])
        await waitFor('the history', async () => (await asked(history(name, 'train'))).status === 200);
    });

    /** The answer of the apiserver to a user. @default - the admin */
    const asked = async (path: string, { token = '', method = 'GET' as 'GET' | 'POST', body = {} } = {}) => {
      const { cluster } = getFixture().stack;
      const client = cluster.clientFor(token === '' ? cluster.token('admin') : token);
      const { status, text } = await client.send(method, path, method === 'POST' ? body : undefined);
      return { status, text };
    };

    /** The answer of the reader without the apiserver. */
    const direct = async (path: string, client: Omit<Client, 'port' | 'ca' | 'servername'> = {}) => {
      const { stack } = getFixture();
      const secret = await stack.cluster.get<KubeObject & { data: Record<string, string> }>(
        secrets(STACK_NAMESPACE, READER_SECRET),
      );
      const ca = Buffer.from(secret.data['ca.crt']!, 'base64').toString();
      const servername = `fluxqueue-reader.${STACK_NAMESPACE}.svc`;
      return send(path, { port: stack.readerPort, ca, servername, ...client });
    };

    /** What the apiserver's proxy brings. */
    const proxy = () => {
      const read = (file: string) => readFileSync(join(getFixture().stack.cluster.directory, file), 'utf8');
      return { cert: read('front-proxy-client.crt'), key: read('front-proxy-client.key') };
    };

    test('an editor of a namespace reads its history, and nothing of other namespaces', async () => {
      const { token } = ADA;
      const own = await asked(history('a', 'train'), { token });
      expect(own.status).toBe(200);
      const { entries } = JSON.parse(own.text) as History;
      expect(entries[0]).toMatchObject({ event: 'Submitted', kind: 'Job' });
      const other = await asked(history('b', 'train'), { token });
      expect(other.status).toBe(403);
      expect(JSON.parse(other.text)).toMatchObject({ kind: 'Status', reason: 'Forbidden' });
      expect((await asked(`${API}/histories/train`, { token })).status).toBe(403);
    });

    test('a viewer reads, and may not ask what if', async () => {
      const { token } = VIEWER;
      expect((await asked(history('a', 'train'), { token })).status).toBe(200);
      const whatIf = { token, method: 'POST' as const, body: { spec: { object: {} } } };
      expect((await asked(`${API}/namespaces/a/whatifs`, whatIf)).status).toBe(403);
    });

    test('who is not known gets nothing, at the apiserver and at the port', async () => {
      expect((await asked(history('a', 'train'), { token: 'wrong' })).status).toBe(401);
      expect((await direct(history('a', 'train'))).status).toBe(401);
      expect(
        (await direct(history('a', 'train'), { headers: { authorization: 'Bearer wrong' } })).status,
      ).toBe(401);
      const anonymous = { 'x-remote-user': 'system:anonymous', 'x-remote-group': 'system:unauthenticated' };
      expect((await direct(history('a', 'train'), { ...proxy(), headers: anonymous })).status).toBe(403);
    });

    test('a forged user is not believed without the certificate of the proxy', async () => {
      const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
      expect((await direct(history('a', 'train'), { headers })).status).toBe(401);
      const { cert, key } = await makeCertificate({
        names: ['front-proxy-client'],
        now: new Date(),
        end: 'client',
      });
      expect((await direct(history('a', 'train'), { cert, key, headers })).status).toBe(401);
      // The same headers of the proxy are believed.
      expect((await direct(history('a', 'train'), { ...proxy(), headers })).status).toBe(200);
    });

    test("a user who sends the proxy's headers to the apiserver stays who it is", async () => {
      const { cluster } = getFixture().stack;
      const forged = {
        'x-remote-user': 'admin',
        'X-REMOTE-GROUP': ['system:masters'],
        'x-remote-uid': '0',
        'x-remote-extra-scopes': 'all',
        'impersonate-user': '',
      };
      const { port } = new URL(cluster.server);
      const headers = { ...forged, authorization: `Bearer ${ADA.token}` };
      const ca = readFileSync(cluster.caFile, 'utf8');
      const through = (path: string) =>
        send(path, { port: Number(port), ca, servername: 'kubernetes', headers });
      expect((await through(history('a', 'train'))).status).toBe(200);
      const other = await through(history('b', 'train'));
      expect([other.status, JSON.parse(other.text).message]).toEqual([
        403,
        expect.stringContaining('User "ada"'),
      ]);
    });

    test('a token for another audience is nobody', async () => {
      const { client } = getFixture();
      const path = '/api/v1/namespaces/a/serviceaccounts/default/token';
      const status = async (audiences?: readonly string[]) => {
        const { status: made } = await client.create<{ status: { token: string } }>(path, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { ...(audiences && { audiences }) },
        });
        const headers = { authorization: `Bearer ${made.token}` };
        return (await direct(history('a', 'train'), { headers })).status;
      };
      expect([await status(['example.com']), await status()]).toEqual([401, 403]);
    });

    test('a token has the same rights at the port as at the apiserver', async () => {
      const headers = { authorization: `Bearer ${ADA.token}` };
      expect((await direct(history('a', 'train'), { headers })).status).toBe(200);
      expect((await direct(history('b', 'train'), { headers })).status).toBe(403);
    });

    test('kubectl finds the API, its resources and what one may do', async () => {
      const { cluster } = getFixture().stack;
      const raw = await cluster.kubectl(['get', '--raw', history('a', 'train')]);
      expect(JSON.parse(raw.stdout)).toMatchObject({ kind: 'History' });
      const resources = await cluster.kubectl(['api-resources', `--api-group=${READ_GROUP}`]);
      expect(resources).toMatchObject({ code: 0, stderr: '' });
      expect(resources.stdout).toMatch(
        /^histories +queue\.converged-computing\.org\/v1alpha1 +true +History$/m,
      );
      const may = await cluster.kubectl(['auth', 'can-i', 'get', `histories.${READ_GROUP}`]);
      expect(may).toMatchObject({ stdout: 'yes\n', stderr: '' });
      const missing = await cluster.kubectl(['get', '--raw', history('a', 'none')]);
      expect(missing.stderr).toContain('FLUXQ_HISTORY_NOT_FOUND: a/none: no workload of this name');
    });

    test('keeps answering while its certificate is replaced', async () => {
      const { cluster } = getFixture().stack;
      const path = secrets(STACK_NAMESPACE, READER_SECRET);
      const before = await cluster.get<KubeObject & { data: Record<string, string> }>(path);
      // A certificate that is due: for other names.
      const { cert, key } = await makeCertificate({ names: ['other'], now: new Date() });
      const data = { 'tls.crt': encoded(cert), 'tls.key': encoded(key) };
      await cluster.request('PATCH', path, { data }, 'application/merge-patch+json');
      const statuses = new Set<number>();
      await waitFor('another certificate', async () => {
        statuses.add((await asked(history('a', 'train'))).status);
        const { data: now } = await cluster.get<typeof before>(path);
        return now['tls.crt'] !== data['tls.crt'] && now['tls.crt'] !== before.data['tls.crt'];
      });
      await waitFor('its use', async () => {
        statuses.add((await asked(history('a', 'train'))).status);
        const { data: now } = await cluster.get<typeof before>(path);
        const { serialNumber } = new X509Certificate(Buffer.from(now['tls.crt']!, 'base64'));
        return (await direct('/readyz')).serial === serialNumber;
      });
      expect([...statuses]).toEqual([200]);
    });

    test('a namespace is deleted while the reader answers', async () => {
      const { cluster } = getFixture().stack;
      await cluster.request('DELETE', '/api/v1/namespaces/b');
      await cluster.waitFor('the end of the namespace', async () => {
        const { status } = await cluster.api.send('GET', '/api/v1/namespaces/b');
        return status === 404;
      });
    });

    test('its metrics count requests by resource and status', async () => {
      expect(await reader.metrics()).toMatch(
        /^fluxqueue_reader_request_seconds_count\{resource="histories",code="403"\} [1-9]/m,
      );
    });
  },
  { cluster: { nodes: 2, users: [ADA, VIEWER] }, readApi: true, createsMiniClusters: false },
);

const encoded = (text: string) => Buffer.from(text).toString('base64');

const job = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
      },
    },
  },
});
