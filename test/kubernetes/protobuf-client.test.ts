import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type KubernetesClient, type WatchEvent } from '../../runtime/kubernetes/client';
import { pods } from '../../runtime/kubernetes/paths';
import { POD } from '../../runtime/kubernetes/pod-messages';
import type { Pod } from '../../runtime/kubernetes/types';
import { enveloped, eventOf, framed, podFields, podObject, statusFields } from './protobuf-encoding';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  /** Sent one after the other. */
  readonly parts: readonly (string | Buffer)[];
}

let server: http.Server;
let directory: string;
let client: KubernetesClient;
let answer: Answer;
let accepted: (string | undefined)[];

beforeAll(async () => {
  server = http.createServer((request, response) => {
    accepted.push(request.headers.accept);
    const { status = 200, type = PROTOBUF, parts } = answer;
    response.writeHead(status, { 'content-type': type });
    for (const part of parts) response.write(part);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  directory = mkdtempSync(join(tmpdir(), 'protobuf-client-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'test', cluster: { server: address } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }),
  );
  client = createClient({ kubeconfig, random: () => 0 });
});
afterAll(async () => {
  client.close();
  rmSync(directory, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  accepted = [];
});

const list = () => client.list<Pod>(pods(), { protobuf: POD, retries: 0 });

/** The events of a watch and its end. */
async function watch(): Promise<{ events: WatchEvent<Pod>[]; end: string }> {
  const events: WatchEvent<Pod>[] = [];
  const { signal } = new AbortController();
  const options = { protobuf: POD, resourceVersion: '1', signal, timeoutSeconds: 5 };
  const end = await client.watch<Pod>(pods(), options, (event) => events.push(event));
  return { events, end };
}

const podOf = (name: string) => enveloped('Pod', podFields(name, '7'));
const event = (type: string, object: Buffer) => framed(eventOf(type, object));

test('asks for a list in protobuf and reads it', async () => {
  answer = {
    parts: [
      enveloped('PodList', [
        [1, [[2, '9']]],
        [2, podFields('a', '7')],
      ]),
    ],
  };
  expect(await list()).toEqual({ metadata: { resourceVersion: '9' }, items: [podObject('a', '7')] });
  expect(accepted).toEqual([`${PROTOBUF}, application/json`]);
});

test('reads a list in JSON, though it asked for protobuf', async () => {
  const page = { metadata: { resourceVersion: '9' }, items: [podObject('a', '7')] };
  answer = { type: 'application/json', parts: [JSON.stringify(page)] };
  expect(await list()).toEqual(page);
});

test('asks for metadata in JSON, though the fields of protobuf are given', async () => {
  answer = { type: 'application/json', parts: ['{"metadata":{"resourceVersion":"9"},"items":null}'] };
  const read = await client.list<Pod>(pods(), { protobuf: POD, metadataOnly: true });
  expect(read.items).toEqual([]);
  expect(accepted[0]).toContain('as=PartialObjectMetadataList');
});

test('reads a watch in protobuf', async () => {
  const stream = Buffer.concat([event('ADDED', podOf('a')), event('DELETED', podOf('b'))]);
  answer = { type: `${PROTOBUF};stream=watch`, parts: [stream.subarray(0, 30), stream.subarray(30)] };
  expect(await watch()).toEqual({
    events: [
      { type: 'ADDED', object: podObject('a', '7') },
      { type: 'DELETED', object: podObject('b', '7') },
    ],
    end: 'ended',
  });
  expect(accepted).toEqual([`${PROTOBUF};stream=watch, application/json`]);
});

test('reads a watch in JSON, though it asked for protobuf', async () => {
  const added = { type: 'ADDED', object: podObject('a', '7') };
  answer = { type: 'application/json', parts: [`${JSON.stringify(added)}\n`] };
  expect((await watch()).events).toEqual([added]);
});

test('reports a refusal in protobuf with its reason, message and wait', async () => {
  answer = {
    status: 403,
    parts: [enveloped('Status', statusFields(403, 'Forbidden', 'pods is forbidden', 3))],
  };
  const refusal = {
    code: 'FLUXQ_KUBERNETES_FORBIDDEN',
    status: 403,
    reason: 'Forbidden',
    message: expect.stringContaining('pods is forbidden'),
    retryAfterSeconds: 3,
  };
  await expect(list()).rejects.toMatchObject(refusal);
  await expect(watch()).rejects.toMatchObject(refusal);
});

test('reports a refusal whose protobuf cannot be read by its status', async () => {
  answer = { status: 500, parts: ['k8s'] };
  await expect(list()).rejects.toMatchObject({ status: 500, message: expect.stringContaining('HTTP 500') });
});

test('reports a refusal in plain text', async () => {
  answer = { status: 429, type: 'text/plain', parts: ['Too many requests'] };
  await expect(list()).rejects.toMatchObject({ status: 429, message: expect.stringContaining('Too many') });
});

test('throws the error of an error event', async () => {
  const expired = enveloped('Status', statusFields(410, 'Expired', 'too old resource version: 1 (5)'));
  answer = { parts: [event('ADDED', podOf('a')), event('ERROR', expired)] };
  await expect(watch()).rejects.toMatchObject({ status: 410, reason: 'Expired' });
});

const malformed = { status: 502, retryable: true };

test.each<[string, Answer]>([
  ['a list in protobuf that is malformed', { parts: ['k8s\0\xff\xff'] }],
  ['a list in protobuf without an envelope', { parts: ['{}'] }],
  ['a list in JSON that is cut', { type: 'application/json', parts: ['{"items":['] }],
])('refuses %s', async (_, given) => {
  answer = given;
  await expect(list()).rejects.toMatchObject(malformed);
});

test.each<[string, Buffer]>([
  ['a malformed event', framed(Buffer.from('nonsense'))],
  ['a malformed object', event('ADDED', Buffer.from('k8s\0\xff\xff'))],
  ['an event that is too long', Buffer.from([255, 0, 0, 0, 0])],
])('ends a watch with %s', async (_, stream) => {
  answer = { parts: [stream] };
  await expect(watch()).rejects.toMatchObject(malformed);
});

test('reports a watch that ends in the middle of an event as broken', async () => {
  answer = { parts: [event('ADDED', podOf('a')).subarray(0, 20)] };
  await expect(watch()).rejects.toMatchObject({ code: 'FLUXQ_KUBERNETES_UNREACHABLE' });
});

test('refuses an answer in protobuf to a request that did not ask for it', async () => {
  answer = { parts: [podOf('a')] };
  await expect(client.get(pods('default', 'a'))).rejects.toMatchObject(malformed);
});
