import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import { ApiError, tooLarge } from '../../runtime/kubernetes/errors';
import { Reflector } from '../../runtime/kubernetes/reflector';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { ManualClock, settle } from './manual-clock';
import { recordingLogger } from './recording-logger';

interface Thing extends KubernetesObject {
  readonly text?: string;
}

const thing = (name: string, text?: string): Thing => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: `${name}-${text}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  ...(text === undefined ? {} : { text }),
});

test('skips an object that cannot be read, and sees the others and its next version', async () => {
  let deliver: (event: WatchEvent<Thing>) => void = () => undefined;
  const client = {
    list: async () => ({ items: [thing('bad'), thing('good', 'a')], metadata: { resourceVersion: '1' } }),
    watch: (_path: string, _options: object, onEvent: typeof deliver) => {
      deliver = onEvent;
      return new Promise(() => undefined);
    },
  } as unknown as KubernetesClient;
  const logger = recordingLogger();
  const seen: string[] = [];
  const reflector = new Reflector<Thing, string>({
    client,
    path: '/things',
    project: ({ text }) => text!.toUpperCase(),
    onChange: (key, now) => seen.push(`${key} ${now}`),
    logger,
    clock: new ManualClock(),
  });
  reflector.start();
  await reflector.synced;
  await settle();
  deliver({ type: 'ADDED', object: thing('worse') });
  deliver({ type: 'ADDED', object: thing('later', 'b') });
  deliver({ type: 'MODIFIED', object: thing('bad', 'c') });
  reflector.stop();
  expect(seen).toEqual(['good A', 'later B', 'bad C']);
  expect(logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields.key)).toEqual([
    'bad',
    'worse',
  ]);
});

test('reads a page that is too large again with fewer objects, and goes on so', async () => {
  const all = Array.from({ length: 700 }, (_, i) => thing(`thing-${i}`));
  const asked: (readonly [from: number, limit: number | undefined])[] = [];
  const client = {
    list: async (path: string, { limit = all.length, mostBytes = 0, continue: token = '0' }) => {
      const from = Number(token);
      asked.push([from, limit]);
      expect(mostBytes).toBe(67_108_864);
      if (limit > 125) throw tooLarge(path, mostBytes);
      const end = from + limit < all.length ? { continue: `${from + limit}` } : {};
      return { items: all.slice(from, from + limit), metadata: { resourceVersion: '1', ...end } };
    },
    watch: () => new Promise(() => undefined),
  } as unknown as KubernetesClient;
  const seen = new Set<string>();
  const reflector = new Reflector<Thing>({
    client,
    path: '/things',
    onChange: (key) => seen.add(key),
    logger: recordingLogger(),
    clock: new ManualClock(),
  });
  reflector.start();
  await reflector.synced;
  reflector.stop();
  expect(seen.size).toBe(700);
  expect(asked).toEqual(
    [500, 125, 125, 125, 125, 125, 125].map((limit, i) => [Math.max(0, i - 1) * 125, limit]),
  );
});

test.each([
  { dispensable: true, status: 403, goesOn: true },
  { dispensable: true, status: 404, goesOn: true, isKnown: true },
  { dispensable: true, status: 500, goesOn: false },
  { dispensable: false, status: 403, goesOn: false },
  { dispensable: false, status: 404, goesOn: false },
])(
  'a list that is answered with $status, dispensable: $dispensable, goes on without: $goesOn',
  async ({ dispensable, status, goesOn, isKnown = false }) => {
    const clock = new ManualClock();
    let isAllowed = false;
    const client = {
      list: async () => {
        if (isAllowed) return { items: [thing('good')], metadata: { resourceVersion: '1' } };
        throw new ApiError({ status, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });
      },
      watch: () => new Promise(() => undefined),
    } as unknown as KubernetesClient;
    const onChange = jest.fn();
    const reflector = new Reflector<Thing>({
      client,
      path: '/things',
      dispensable,
      onChange,
      logger: recordingLogger(),
      clock,
    });
    let isSynced = false;
    void reflector.synced.then(() => {
      isSynced = true;
    });
    reflector.start();
    await settle();
    // An apiserver that has just started refuses everything for a moment.
    expect([isSynced, reflector.lastSync !== undefined]).toEqual([isKnown, isKnown]);
    for (let i = 0; i < 10; i++) await clock.advance(1_000).then(settle);
    expect([isSynced, reflector.lastSync !== undefined]).toEqual([goesOn, goesOn]);
    isAllowed = true;
    await clock.advance(60_000);
    await settle();
    expect([isSynced, onChange.mock.calls.length]).toEqual([true, 1]);
    reflector.stop();
  },
);

describe('dispensable objects that were listed before', () => {
  /** The server refuses everything with this status, and discovery says whether there can be such objects. */
  async function lose(status: number, { haveGone = false, dispensable = true } = {}) {
    const clock = new ManualClock();
    const server = { refuses: 0, haveGone, objects: [thing('good')] };
    const refuse = () => {
      const { refuses } = server;
      throw new ApiError({ status: refuses, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });
    };
    let breakOff: (error: Error) => void = () => undefined;
    const client = {
      list: async () =>
        server.refuses === 0 ? { items: server.objects, metadata: { resourceVersion: '1' } } : refuse(),
      watch: async () => {
        if (server.refuses !== 0) refuse();
        return new Promise((_resolve, reject) => {
          breakOff = reject;
        });
      },
    } as unknown as KubernetesClient;
    const told: string[] = [];
    const reflector = new Reflector<Thing>({
      client,
      path: '/things',
      dispensable,
      haveGone: async () => server.haveGone,
      onChange: (key, now) => told.push(`${key} ${now === undefined ? 'gone' : 'there'}`),
      onRewritten: () => told.push('rewritten'),
      logger: recordingLogger(),
      clock,
      backoff: { first: 500, most: 1_000 },
    });
    reflector.start();
    await settle();
    expect(told.splice(0)).toEqual(['good there']);
    const seconds = async (count: number) => {
      for (let i = 0; i < 4 * count; i++) await clock.advance(250).then(settle);
      return { isComplete: reflector.isComplete, told: told.splice(0) };
    };
    const refuseAll = (with_: number) => {
      server.refuses = with_;
      breakOff(new Error('socket hang up'));
    };
    refuseAll(status);
    return { server, seconds, refuseAll, reflector };
  }

  test('are not known while they are not served, and are told again once they are', async () => {
    const { server, seconds, reflector } = await lose(404);
    expect(await seconds(3)).toEqual({ isComplete: false, told: [] });
    server.refuses = 0;
    expect(await seconds(3)).toEqual({ isComplete: true, told: ['good there', 'rewritten'] });
    reflector.stop();
  });

  test('are not known once they were forbidden for 5 s, and those deleted meanwhile are told', async () => {
    const { server, seconds, refuseAll, reflector } = await lose(403);
    expect(await seconds(4)).toEqual({ isComplete: true, told: [] });
    server.refuses = 0;
    expect(await seconds(60)).toEqual({ isComplete: true, told: [] });
    // An earlier moment does not count.
    refuseAll(403);
    expect(await seconds(4)).toEqual({ isComplete: true, told: [] });
    expect(await seconds(4)).toEqual({ isComplete: false, told: [] });
    server.refuses = 0;
    server.objects = [];
    expect(await seconds(3)).toEqual({ isComplete: true, told: ['good gone', 'rewritten'] });
    reflector.stop();
  });

  test('are gone where they are served in no version', async () => {
    const { server, seconds, reflector } = await lose(404);
    expect(await seconds(3)).toEqual({ isComplete: false, told: [] });
    server.haveGone = true;
    expect(await seconds(3)).toEqual({ isComplete: true, told: ['good gone', 'rewritten'] });
    expect(await seconds(9)).toEqual({ isComplete: true, told: [] });
    reflector.stop();
  });

  test('are not known any more when they may exist again, but not be listed', async () => {
    const { server, seconds, reflector } = await lose(404, { haveGone: true });
    expect(await seconds(3)).toEqual({ isComplete: true, told: ['good gone'] });
    server.refuses = 403;
    expect(await seconds(3)).toEqual({ isComplete: false, told: [] });
    reflector.stop();
  });

  test.each([
    [403, false],
    [404, false],
    [500, true],
  ])('are still known after an answer %d, dispensable: %s', async (status, dispensable) => {
    const { seconds, reflector } = await lose(status, { dispensable });
    expect(await seconds(20)).toEqual({ isComplete: true, told: [] });
    reflector.stop();
  });
});

describe('after its connection broke', () => {
  /** An apiserver of which each history has its own objects: `name@version`. */
  function start(path = '/api/v1/things') {
    const clock = new ManualClock();
    const server = { objects: ['ns/a@5', 'ns/b@9'], version: 9 };
    const lists: (string | undefined)[] = [];
    const watches: string[] = [];
    let breakOff: (error: Error) => void = () => undefined;
    const object = (text: string): Thing => {
      const [, namespace = '', name = '', resourceVersion = ''] = /^(.*)\/(.*)@(.*)$/.exec(text)!;
      const creationTimestamp = '2026-01-01T00:00:00Z';
      return { metadata: { namespace, name, uid: `${name}`, resourceVersion, creationTimestamp } };
    };
    const client = {
      list: async (listed: string, { fieldSelector }: { fieldSelector?: string } = {}) => {
        lists.push(fieldSelector === undefined ? listed : `${listed}?${fieldSelector}`);
        const wanted = fieldSelector?.split('=')[1];
        const items = server.objects
          .map(object)
          .filter(({ metadata }) => [undefined, metadata.name].includes(wanted));
        return { items, metadata: { resourceVersion: `${server.version}` } };
      },
      watch: (_path: string, { resourceVersion }: { resourceVersion: string }) => {
        watches.push(resourceVersion);
        return new Promise((_resolve, reject) => {
          breakOff = reject;
        });
      },
    } as unknown as KubernetesClient;
    const seen: string[] = [];
    const reflector = new Reflector<Thing>({
      client,
      path,
      onChange: (key, now, before) =>
        seen.push(`${key} ${before?.metadata.resourceVersion} ${now?.metadata.resourceVersion}`),
      logger: recordingLogger(),
      clock,
    });
    reflector.start();
    const broken = async () => {
      seen.length = lists.length = watches.length = 0;
      breakOff(new Error('socket hang up'));
      await settle();
      await clock.advance(60_000);
      await settle();
    };
    return { server, lists, watches, seen, broken, reflector };
  }
  const CHECK = '/api/v1/namespaces/ns/things?metadata.name=b';

  test('the watch is resumed if the apiserver has the newest known object as it was', async () => {
    const { broken, lists, watches, seen, reflector, server } = start();
    await settle();
    server.version = 12;
    await broken();
    expect({ lists, watches, seen }).toEqual({ lists: [CHECK], watches: ['9'], seen: [] });
    reflector.stop();
  });

  test.each([
    [
      'its version is lower than the known one',
      { objects: ['ns/a@5'], version: 7 },
      ['ns/a 5 5', 'ns/b 9 undefined'],
    ],
    [
      'its version is higher already, and the newest object is as it was before',
      { objects: ['ns/a@5', 'ns/b@6'], version: 20 },
      ['ns/a 5 5', 'ns/b 9 6'],
    ],
    [
      'its version is higher already, and the newest object is gone',
      { objects: ['ns/a@11'], version: 20 },
      ['ns/a 5 11', 'ns/b 9 undefined'],
    ],
  ])('everything is listed and told again if %s', async (_, restored, told) => {
    const { broken, lists, watches, seen, reflector, server } = start();
    await settle();
    Object.assign(server, restored);
    await broken();
    expect({ lists, watches, seen }).toEqual({
      lists: [CHECK, '/api/v1/things'],
      watches: [`${restored.version}`],
      seen: told,
    });
    reflector.stop();
  });
});
