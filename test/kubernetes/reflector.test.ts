import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
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

test.each([
  { dispensable: true, status: 403, goesOn: true },
  { dispensable: true, status: 500, goesOn: false },
  { dispensable: false, status: 403, goesOn: false },
])(
  'a list that is answered with $status, dispensable: $dispensable, goes on without: $goesOn',
  async ({ dispensable, status, goesOn }) => {
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
    expect([isSynced, reflector.lastSync]).toEqual([false, undefined]);
    for (let i = 0; i < 10; i++) await clock.advance(1_000).then(settle);
    expect([isSynced, reflector.lastSync !== undefined]).toEqual([goesOn, goesOn]);
    isAllowed = true;
    await clock.advance(60_000);
    await settle();
    expect([isSynced, onChange.mock.calls.length]).toEqual([true, 1]);
    reflector.stop();
  },
);
