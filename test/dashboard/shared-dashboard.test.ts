/** The dashboard for many readers: what each of them may see, and how many there are. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Changes } from '../../runtime/dashboard/messages';
import { type ReaderAnswers, SharedDashboard } from '../../runtime/dashboard/shared-dashboard';
import { FluxqError } from '../../runtime/errors';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { unreachable } from '../../runtime/kubernetes/errors';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { HISTORY, USAGE } from './answers';
import { node, RUNNING } from './sample';

const HIDDEN: FluxJobObject = {
  ...RUNNING,
  metadata: { ...RUNNING.metadata, namespace: 'secret', name: 'hidden-job', uid: 'hidden' },
};

let clock: ManualClock;
let watches: number;
let listed: () => Promise<void>;
let asked: unknown[][];
let answers: ReaderAnswers<string>;
let logger: ReturnType<typeof recordingLogger>;
let dashboard: SharedDashboard<string>;
let server: Server;

/** An apiserver with two FluxJobs and three nodes, which do not change. */
const client = {
  async list(path: string) {
    await listed();
    const items = path.endsWith('fluxjobs')
      ? [RUNNING, HIDDEN]
      : ['node0', 'node1', 'node2'].map((name) => node(name));
    return { metadata: { resourceVersion: '1' }, items };
  },
  async watch(_: string, { signal }: { readonly signal: AbortSignal }) {
    watches += 1;
    await once(signal, 'abort');
    watches -= 1;
    return 'closed';
  },
} as unknown as KubernetesClient;

beforeEach(async () => {
  clock = new ManualClock();
  watches = 0;
  listed = () => Promise.resolve();
  asked = [];
  answers = {
    history: async (...of) => {
      asked.push(of);
      return HISTORY;
    },
    usage: async (...of) => {
      asked.push(of);
      return USAGE;
    },
  };
  logger = recordingLogger();
  dashboard = new SharedDashboard({
    client,
    clock,
    logger,
    mostPages: 3,
    answers: {
      history: (...of) => answers.history(...of),
      usage: (...of) => answers.usage(...of),
    },
  });
  // As the role does it: what the apiserver has checked is in the path.
  server = createServer((request, response) => {
    const [path = ''] = request.url!.split('?');
    const [, , namespace, name = '', , ...rest] = path.split('/');
    void dashboard.handle(request, response, {
      reader: 'ada',
      name,
      path: `/${rest.join('/')}`,
      ...(namespace === '-' ? {} : { namespace: namespace! }),
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  dashboard.stop();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** @param namespace `-`: all */
const address = (namespace: string, path: string, name = 'queue') =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/namespaces/${namespace}/${name}/proxy${path}`;

interface Told {
  readonly event: string;
  readonly data: unknown;
}

/** An open page. */
class TestPage {
  private text = '';

  private constructor(
    private readonly reader: ReadableStreamDefaultReader<string>,
    private readonly left: AbortController,
  ) {}

  static async open(namespace: string): Promise<TestPage> {
    const left = new AbortController();
    const { body } = await fetch(address(namespace, '/events'), { signal: left.signal });
    return new TestPage(body!.pipeThrough(new TextDecoderStream()).getReader(), left);
  }

  async next(): Promise<Told> {
    for (;;) {
      const [, event, data, rest] = /^event: (\w+)\ndata: ([^\n]*)\n\n(.*)$/s.exec(this.text) ?? [];
      if (event !== undefined) {
        this.text = rest!;
        return { event, data: JSON.parse(data!) };
      }
      const { value, done } = await this.reader.read();
      if (done) throw new Error('the events ended');
      this.text += value;
    }
  }

  /** Of the first message. */
  async all(): Promise<Changes> {
    const { event, data } = await this.next();
    expect(event).toBe('all');
    return data as Changes;
  }

  async isEnded(): Promise<boolean> {
    return (await this.reader.read()).done;
  }

  leave(): void {
    this.left.abort();
  }
}

const keys = ({ jobs }: Changes) => jobs.map(({ key }) => key);

/** Resolves when this many watches are open: the end of a connection takes its time. */
async function untilWatches(number: number): Promise<void> {
  while (watches !== number) await new Promise((resolve) => setImmediate(resolve));
}

test('serves the page and its parts', async () => {
  for (const [path, type] of [
    ['/', 'text/html'],
    ['/page.js', 'text/javascript'],
    ['/page.css', 'text/css'],
  ] as const) {
    const response = await fetch(address('science', path));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(response.headers.get('set-cookie')).toBeNull();
  }
});

test('allows only scripts that the page itself names, because others may have the same origin', async () => {
  const [first, second] = [await fetch(address('science', '/')), await fetch(address('science', '/'))];
  const nonceOf = ({ headers }: Response) =>
    /script-src 'nonce-([\w-]+)'/.exec(headers.get('content-security-policy')!)![1]!;
  expect(nonceOf(first)).not.toBe(nonceOf(second));
  expect(first.headers.get('content-security-policy')).not.toContain("script-src 'self'");
  expect((await first.text()).split(`nonce="${nonceOf(first)}"`)).toHaveLength(3);
});

test('has relative addresses, and is found without its slash, too', async () => {
  expect(await (await fetch(address('science', '/'))).text()).not.toMatch(/(src|href)="(\/|\w+:)/);
  const response = await fetch(address('science', '?x=1'));
  expect(await response.text()).toContain('content="0; url=proxy/"');
});

test('a reader of a namespace sees its jobs and the nodes that they hold', async () => {
  const all = await (await TestPage.open('science')).all();
  expect(keys(all)).toEqual(['science/train-job']);
  expect(all.nodes.map(({ name }) => name)).toEqual(['node0', 'node1']);
  expect(all.namespace).toBe('science');
});

test('a reader of all namespaces sees all jobs and all nodes', async () => {
  const all = await (await TestPage.open('-')).all();
  expect(keys(all)).toEqual(['science/train-job', 'secret/hidden-job']);
  expect(all.nodes).toHaveLength(3);
});

test.each([
  '/events?namespace=secret',
  '/events?namespace=',
  '/events/?namespace=secret',
  '/../events',
  '/%2e%2e/secret/queue/proxy/events',
  '/secret/events',
])('nothing in the address widens what a reader sees: %s', async (path) => {
  const { body, headers } = await fetch(address('science', path));
  const reader = body!.getReader();
  const text = new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect(text).not.toContain('secret/hidden-job');
  if (headers.get('content-type') === 'text/event-stream') expect(text).toContain('science/train-job');
});

test('history is that of the own namespace', async () => {
  const answer = async (namespace: string, path: string) =>
    (await (await fetch(address(namespace, path))).json()) as unknown;
  expect(await answer('science', '/histories/science/train')).toEqual({ answer: HISTORY });
  expect(await answer('science', '/histories/secret/hidden?namespace=science')).toEqual({
    problem: 'This page shows science alone.',
  });
  expect(await answer('-', '/histories/secret/hidden')).toEqual({ answer: HISTORY });
  expect(asked).toEqual([
    ['science', 'train', 'ada'],
    ['secret', 'hidden', 'ada'],
  ]);
});

test('usage is that of the own namespace, for the one who asks', async () => {
  const response = await fetch(address('science', '/usages?namespace=secret'));
  expect(await response.json()).toEqual({ answer: USAGE });
  expect(asked).toEqual([['science', expect.any(URLSearchParams), 'ada']]);
  await fetch(address('-', '/usages'));
  expect(asked[1]![0]).toBeUndefined();
});

test.each([
  [new FluxqError('FLUXQ_UNKNOWN', 'is unknown'), 'FLUXQ_UNKNOWN: is unknown.'],
  [new Error('password of the database'), 'The server of this page failed; its log says why.'],
])('an answer that fails is a sentence, and in the log: %s', async (error, problem) => {
  answers = { ...answers, usage: () => Promise.reject(error) };
  expect(await (await fetch(address('science', '/usages'))).json()).toEqual({ problem });
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { err: error } }]);
});

test('is read-only, and has one name', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect((await fetch(address('science', '/events'), { method })).status).toBe(405);
  for (const path of ['/nothing', '/histories/science', '/histories/%', '/toString'])
    expect((await fetch(address('science', path))).status).toBe(404);
  expect((await fetch(address('science', '/events', 'other'))).status).toBe(404);
});

test('two watches serve all readers, and end a minute after the last one has left', async () => {
  const pages = [await TestPage.open('science'), await TestPage.open('secret'), await TestPage.open('-')];
  for (const page of pages) await page.all();
  expect(watches).toBe(2);
  for (const page of pages) page.leave();
  await untilIdle();
  await clock.advance(60_000);
  await untilWatches(0);
});

/** Resolves when the server has noticed that all pages are gone: what remains is to close the watches. */
async function untilIdle(): Promise<void> {
  while (clock.next !== 60_000) await new Promise((resolve) => setImmediate(resolve));
}

test('says when it is full, and has room again when a page is closed', async () => {
  const pages = [await TestPage.open('science'), await TestPage.open('science'), await TestPage.open('-')];
  for (const page of pages) await page.all();
  const refused = await TestPage.open('science');
  expect(await refused.next()).toEqual({
    event: 'refused',
    data: 'This dashboard is open 3 times, which is the most. It tries again.',
  });
  expect(await refused.isEnded()).toBe(true);
  pages[0]!.leave();
  for (;;) {
    const { event } = await (await TestPage.open('science')).next();
    if (event === 'all') break;
  }
});

test('a page must ask again after five minutes, so that a right that was taken away ends', async () => {
  const page = await TestPage.open('science');
  await page.all();
  await clock.advance(300_000);
  expect(await page.next()).toEqual({ event: 'again', data: '' });
  expect(await page.isEnded()).toBe(true);
});

test('says that the queue cannot be read, and reads it for the next page', async () => {
  listed = () => Promise.reject(unreachable('GET x', new Error('refused')));
  const page = await TestPage.open('science');
  const { event, data } = await page.next();
  expect(event).toBe('refused');
  expect(data).toMatch(/^The queue cannot be read now: .*refused.* It tries again\.$/);
  listed = () => Promise.resolve();
  expect(keys(await (await TestPage.open('science')).all())).toEqual(['science/train-job']);
});

test('a page that has left before the view was open keeps nobody from it', async () => {
  const answered = Promise.withResolvers<void>();
  listed = () => answered.promise;
  const closed = Promise.withResolvers<void>();
  server.once('request', (_, response) => response.once('close', closed.resolve));
  const page = await TestPage.open('science');
  page.leave();
  await closed.promise;
  answered.reject(unreachable('GET x', new Error('refused')));
  await settle();
  expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  listed = () => Promise.resolve();
  expect(keys(await (await TestPage.open('science')).all())).toEqual(['science/train-job']);
});

test('pages that have left before they were let in take no place', async () => {
  server.removeAllListeners('request');
  let handled = 0;
  server.on('request', async (request, response) => {
    await once(response, 'close');
    await dashboard.handle(request, response, { reader: 'ada', name: 'queue', path: '/events' });
    handled += 1;
  });
  for (let page = 1; page <= 4; page++) {
    const left = new AbortController();
    const asked = once(server, 'request');
    const answer = fetch(address('-', '/events'), { signal: left.signal }).catch(() => undefined);
    await asked;
    left.abort();
    await answer;
    while (handled < page) await settle();
  }
  server.removeAllListeners('request');
  server.on('request', (request, response) =>
    dashboard.handle(request, response, { reader: 'ada', name: 'queue', path: '/events' }),
  );
  const page = await TestPage.open('-');
  expect(await page.next()).toMatchObject({ event: 'all' });
  page.leave();
});

test('a server that stops sends its pages to another one, and opens nothing any more', async () => {
  const page = await TestPage.open('science');
  await page.all();
  dashboard.stop();
  expect(await page.next()).toEqual({ event: 'again', data: '' });
  expect((await fetch(address('science', '/events'))).status).toBe(503);
  await untilWatches(0);
});
