/** How a client proves its identity, and that of the apiserver. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { type ClientOptions, createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { clusterWide } from '../../runtime/kubernetes/paths';
import type { Cluster } from '../cluster/cluster';
import { writeKubeconfig } from '../cluster/credentials';
import { describeCluster } from '../cluster/suite';

const namespaces = clusterWide('', 'v1', 'namespaces');

describeCluster('credentials of a client', tests);

function tests(getCluster: () => Cluster): void {
  const clients: KubernetesClient[] = [];
  const connect = (options: ClientOptions): KubernetesClient => {
    const client = createClient(options);
    clients.push(client);
    return client;
  };

  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  test('refuses a server with the certificate of another authority', async () => {
    const { directory, server } = getCluster();
    const caFile = join(directory, 'other-ca.crt');
    writeFileSync(caFile, rootCertificates[0]!);
    const access = { server, caFile, token: getCluster().token('admin') };
    const client = connect({ kubeconfig: writeKubeconfig(directory, 'wrong-ca', access) });
    await expect(client.get(namespaces('default'))).rejects.toThrow(/certificate/);
  });

  test('reads a rotated token file again when the old token is refused', async () => {
    const { directory, caFile, server } = getCluster();
    const tokenFile = join(directory, 'rotating.token');
    writeFileSync(tokenFile, 'old-and-gone\n');
    const config = {
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority': caFile } }],
      users: [{ name: 'u', user: { tokenFile } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    const path = join(directory, 'rotating.yaml');
    writeFileSync(path, JSON.stringify(config));
    const client = connect({ kubeconfig: path });
    await expect(client.get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_UNAUTHORIZED',
    });
    writeFileSync(tokenFile, `${getCluster().token('admin')}\n`);
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
  });

  test('runs an exec plugin with the cluster information, and again after a 401', async () => {
    const { directory, caFile, server } = getCluster();
    const log = join(directory, 'plugin.log');
    // The first token of the plugin is refused by the apiserver.
    const script = `
      const fs = require('node:fs');
      const before = fs.existsSync('${log}') ? fs.readFileSync('${log}', 'utf8').length : 0;
      fs.appendFileSync('${log}', process.env.KUBERNETES_EXEC_INFO.includes('${server}') ? 'y' : 'n');
      const token = before === 0 ? 'expired' : '${getCluster().token('admin')}';
      console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }));`;
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script],
    };
    const config = (user: object) => ({
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority': caFile } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    const path = join(directory, 'exec.yaml');
    writeFileSync(path, JSON.stringify(config({ exec })));
    const client = connect({ kubeconfig: path });
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
    expect(readFileSync(log, 'utf8')).toBe('yy');

    writeFileSync(path, JSON.stringify(config({ exec: { ...exec, command: '/no/such/plugin' } })));
    await expect(connect({ kubeconfig: path }).get(namespaces('default'))).rejects.toMatchObject({
      code: 'FLUXQ_KUBERNETES_CREDENTIALS',
      field: `${path}, context x`,
      retryable: true,
    });
  });

  test('uses the proxy of the kubeconfig', async () => {
    const { directory, caFile, server } = getCluster();
    const tunnelled: string[] = [];
    const tunnel = createServer().on('connect', (request, socket, head) => {
      tunnelled.push(request.url ?? '');
      const { port } = new URL(server);
      const upstream = connectTo(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
    const proxyUrl = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`;
    const path = join(directory, 'tunnel.yaml');
    writeFileSync(
      path,
      JSON.stringify({
        clusters: [
          { name: 'c', cluster: { server, 'certificate-authority': caFile, 'proxy-url': proxyUrl } },
        ],
        users: [{ name: 'u', user: { token: getCluster().token('admin') } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    const client = connect({ kubeconfig: path });
    await expect(client.get(namespaces('default'))).resolves.toBeDefined();
    expect(tunnelled).toEqual([new URL(server).host]);
    client.close();
    await new Promise((resolve) => tunnel.close(resolve));
  });
}
