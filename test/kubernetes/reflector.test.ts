import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
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
