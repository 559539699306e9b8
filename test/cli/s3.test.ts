import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeBackups } from '../../runtime/cli/backup-command';

describe('store-backup', () => {
  let server: Server;
  let folder: string;
  let status = 200;
  const taken: { request: IncomingMessage; body: string }[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-store-'));
    server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      taken.push({ request, body: Buffer.concat(parts).toString() });
      response.writeHead(status).end('<Error><Code>NoSuchBucket</Code></Error>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  const login = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const store = (environment: NodeJS.ProcessEnv = login) => {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const options = { folder, endpoint, bucket: 'dumps', prefix: 'north (1)/', region: 'r1' };
    return storeBackups(options, environment);
  };

  test('puts each dump under its prefix, with the hash of its content', async () => {
    await expect(store()).rejects.toMatchObject({ code: 'FLUXQ_BACKUP_MISSING' });
    writeFileSync(join(folder, 'a.dump'), 'content');
    await store();
    const [{ request, body }] = taken as [(typeof taken)[0]];
    expect([request.method, request.url, body]).toEqual(['PUT', '/dumps/north%20%281%29/a.dump', 'content']);
    expect(request.headers).toMatchObject({
      'content-length': '7',
      'x-amz-content-sha256': createHash('sha256').update('content').digest('hex'),
    });
    expect(request.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/r1\/s3\/aws4_request,/,
    );
  });

  test('fails when the store refuses, and without a login', async () => {
    status = 404;
    await expect(store()).rejects.toThrow(/FLUXQ_BACKUP_STORE: .*answered 404 NoSuchBucket/);
    await expect(store({})).rejects.toThrow('FLUXQ_CONFIG_INVALID: AWS_ACCESS_KEY_ID: is not set');
  });
});
