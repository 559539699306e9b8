/** Who may read the page, and what it is told. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Changes } from '../../runtime/dashboard/messages';
import { type DashboardServer, serveDashboard } from '../../runtime/dashboard/server';
import { jobView } from '../../runtime/dashboard/view';
import { HISTORY, StaticAnswers, USAGE } from './answers';
import { RESERVED, RUNNING } from './sample';

const ALL: Changes = { jobs: [jobView(RUNNING)], goneJobs: [], nodes: [], goneNodes: [] };

class View {
  readonly listeners = new Set<(changes: Changes) => void>();

  listen(listener: (changes: Changes) => void): () => void {
    listener(ALL);
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

let view: View;
let answers: StaticAnswers;
let server: DashboardServer;

beforeEach(async () => {
  view = new View();
  answers = new StaticAnswers();
  server = await serveDashboard({ port: 0, view, answers });
});
afterEach(() => server.stop());

async function send(path: string, { host, method = 'GET' }: { host?: string; method?: string } = {}) {
  const { port } = new URL(server.url);
  const call = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: host === undefined ? {} : { host },
  });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString();
}

const secretPath = () => new URL(server.url).pathname;

test('serves the page and its parts, which may load nothing from elsewhere', async () => {
  for (const [file, type] of [
    ['', 'text/html'],
    ['page.js', 'text/javascript'],
    ['page.css', 'text/css'],
  ] as const) {
    const response = await send(`${secretPath()}${file}`);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain(type);
    expect(response.headers['content-security-policy']).toContain("default-src 'none'");
    expect(await textOf(response)).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  }
});

test.each([
  ['without the secret', () => '/', {}],
  ['with another secret', () => `/${'x'.repeat(32)}/`, {}],
  ['with the start of the secret', () => secretPath().slice(0, -5), {}],
  ['by a name that another site has given to this address', secretPath, { host: 'evil.example:80' }],
])('tells nothing %s', async (_, path, options) => {
  for (const file of ['', 'events', 'usages', 'histories/science/train']) {
    const response = await send(`${path()}${file}`, options);
    expect(response.statusCode).toBe(404);
    expect(await textOf(response)).not.toContain('train');
  }
});

test('has a new secret each time', async () => {
  const other = await serveDashboard({ port: 0, view, answers });
  expect(new URL(other.url).pathname).not.toBe(secretPath());
  await other.stop();
});

test('is read-only', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect((await send(secretPath(), { method })).statusCode).toBe(405);
  expect((await send(`${secretPath()}nothing`)).statusCode).toBe(404);
});

test('answers what the page asks for', async () => {
  const answer = async (path: string) => JSON.parse(await textOf(await send(`${secretPath()}${path}`)));
  expect(await answer('histories/science/train%2F1')).toEqual({ answer: HISTORY });
  expect(await answer('usages')).toEqual({ answer: USAGE });
  expect(answers.asked).toEqual(['science/train/1', 'usage']);
});

test('tells all there is first, then what changes, until the browser is gone', async () => {
  const response = await send(`${secretPath()}events`);
  response.setEncoding('utf8');
  const messages = response[Symbol.asyncIterator]() as AsyncIterator<string>;
  expect((await messages.next()).value).toBe(`event: all\ndata: ${JSON.stringify(ALL)}\n\n`);
  const change = { ...ALL, jobs: [jobView(RESERVED)] };
  for (const listener of view.listeners) listener(change);
  expect((await messages.next()).value).toBe(`event: changes\ndata: ${JSON.stringify(change)}\n\n`);
  response.destroy();
  while (view.listeners.size > 0) await delay(5);
});

test('drops a browser that does not read', async () => {
  const response = await send(`${secretPath()}events`);
  response.pause();
  const large = { ...ALL, goneJobs: ['x'.repeat(16 * 1024 * 1024)] };
  for (let i = 0; i < 20 && view.listeners.size > 0; i++) {
    for (const listener of view.listeners) listener(large);
    await delay(5);
  }
  while (view.listeners.size > 0) await delay(5);
  response.destroy();
});

test('says that a port is taken', async () => {
  const port = Number(new URL(server.url).port);
  await expect(serveDashboard({ port, view, answers })).rejects.toMatchObject({
    code: 'FLUXQ_PORT_IN_USE',
    field: '--port',
  });
});
