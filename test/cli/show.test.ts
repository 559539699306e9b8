/** What a watch writes, with an apiserver that is played. */
import { EventEmitter } from 'node:events';
import { linesOf, type Picture } from '../../runtime/cli/picture';
import { type Output, show } from '../../runtime/cli/show';
import { FluxqError } from '../../runtime/errors';
import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { KubernetesObject } from '../../runtime/kubernetes/types';

function object(name: string, version: string, phase = ''): KubernetesObject {
  return {
    metadata: { name, uid: name, resourceVersion: version, creationTimestamp: '', labels: { phase } },
  };
}

/** A client of one collection whose watches end or fail as the test says. */
class PlayedApiserver {
  readonly lists: unknown[] = [];
  /** Answers to lists of a path. */
  readonly refusals = new Map<string, number>();
  items: KubernetesObject[] = [];
  private readonly watches: {
    readonly onEvent: (event: WatchEvent<KubernetesObject>) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  private opened: () => void = () => undefined;

  readonly client = {
    list: async (path: string, options: object) => {
      this.lists.push(options);
      const status = this.refusals.get(path);
      if (status !== undefined) throw apiError(status, 'refused', undefined, path);
      return { metadata: { resourceVersion: '1' }, items: this.items };
    },
    watch: (
      _: string,
      { signal }: { signal: AbortSignal },
      onEvent: (event: WatchEvent<KubernetesObject>) => void,
    ) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => resolve('closed'));
        this.watches.push({ onEvent, fail: reject });
        this.opened();
      }),
  } as unknown as KubernetesClient;

  /** Resolves when a watch is open. */
  async watch() {
    if (this.watches.length === 0)
      await new Promise<void>((resolve) => {
        this.opened = resolve;
      });
    return this.watches.at(-1)!;
  }

  async send(type: 'ADDED' | 'MODIFIED' | 'DELETED', sent: KubernetesObject): Promise<void> {
    (await this.watch()).onEvent({ type, object: sent });
  }

  async break(): Promise<void> {
    (await this.watch()).fail(new Error('connection reset'));
    this.watches.pop();
  }
}

function outputs(isTTY: boolean) {
  let text = '';
  let said: () => void = () => undefined;
  const output = Object.assign(new EventEmitter(), {
    isTTY,
    rows: 10,
    columns: 40,
    write: (more: string) => {
      text += more;
      said();
      return true;
    },
  }) as unknown as Output;
  return {
    output,
    text: () => text,
    /** Resolves when it has been written. */
    says: async (wanted: string) => {
      while (!text.includes(wanted))
        await new Promise<void>((resolve) => {
          said = resolve;
        });
    },
  };
}

interface Objects extends Readonly<Record<string, KubernetesObject>> {
  readonly things: KubernetesObject;
}

const SOURCES = { things: { path: '/api/v1/things', labelSelector: 'a=b' } };

function pictureOf({ things }: { readonly things: readonly KubernetesObject[] }): Picture {
  return {
    head: ['NAME', 'PHASE'],
    rows: things.map(({ metadata: { name, labels } }) => ({
      key: name,
      cells: [name, labels?.phase ?? ''],
      state: labels?.phase ?? '',
    })),
    empty: 'nothing',
    done: things.some(({ metadata }) => metadata.labels?.phase === 'Finished'),
  };
}

describe('optional objects', () => {
  interface Both extends Objects {
    readonly others: KubernetesObject;
  }
  const sources = { ...SOURCES, others: { path: '/api/v1/others', optional: true } };
  const both = ({ things, others }: { readonly [K in keyof Both]: readonly KubernetesObject[] }) =>
    pictureOf({ things: [...things!, ...others!] });

  test.each([403, 404])('are none where the answer is %i', async (status) => {
    for (const watch of [false, true]) {
      const apiserver = new PlayedApiserver();
      apiserver.items = [object('a', '1', 'Finished')];
      apiserver.refusals.set('/api/v1/others', status);
      const { output, text } = outputs(false);
      const errors = outputs(false);
      await show<Both>(apiserver.client, sources, both, { watch, output, errors: errors.output });
      expect([text(), errors.text()]).toEqual(['NAME  PHASE\na     Finished\n', '']);
    }
  });

  test.each([
    ['/api/v1/others', 500],
    ['/api/v1/things', 403],
  ])('are the only ones that may be missing (%s: %i)', async (path, status) => {
    const apiserver = new PlayedApiserver();
    apiserver.refusals.set(path, status);
    for (const watch of [false, true])
      await expect(show<Both>(apiserver.client, sources, both, { watch })).rejects.toThrow('refused');
  });
});

test('without a watch, the picture is printed once', async () => {
  const apiserver = new PlayedApiserver();
  apiserver.items = [object('a', '1', 'Running')];
  const { output, text } = outputs(true);
  await expect(show<Objects>(apiserver.client, SOURCES, pictureOf, { watch: false, output })).resolves.toBe(
    false,
  );
  expect(text()).toBe(`${linesOf(pictureOf({ things: apiserver.items })).join('\n')}\n`);
  expect(apiserver.lists).toEqual([{ labelSelector: 'a=b' }]);
});

test('a watch in a pipe goes on after a lost connection, until its picture is done', async () => {
  const apiserver = new PlayedApiserver();
  const { output, text, says } = outputs(false);
  const errors = outputs(false);
  const shown = show<Objects>(apiserver.client, SOURCES, pictureOf, {
    watch: true,
    output,
    errors: errors.output,
  });
  await says('nothing\n');
  await apiserver.send('ADDED', object('a', '2', 'Waiting'));
  await says('NAME  PHASE\na     Waiting\n');
  await apiserver.break();
  await errors.says('the apiserver does not answer, trying again: connection reset\n');
  await apiserver.send('MODIFIED', object('a', '3', 'Finished'));
  await expect(shown).resolves.toBe(true);
  expect(text()).toBe('nothing\nNAME  PHASE\na     Waiting\na     Finished\n');
});

test('a terminal shows the trouble below the table, and no longer when it is over', async () => {
  const apiserver = new PlayedApiserver();
  const { output, text, says } = outputs(true);
  const shown = show<Objects>(apiserver.client, SOURCES, pictureOf, { watch: true, output });
  await says('nothing');
  await apiserver.break();
  await says('the apiserver does not answer');
  await apiserver.send('ADDED', object('a', '2', 'Finished'));
  await expect(shown).resolves.toBe(true);
  const last = text().slice(text().lastIndexOf('\r'));
  expect(last).toContain('Finished');
  expect(last).not.toContain('does not answer');
});

test('a user who may not read gets the answer instead of a watch that tries for ever', async () => {
  const { output } = outputs(false);
  const list = async () => {
    throw new FluxqError('FLUXQ_KUBERNETES_FORBIDDEN', 'is forbidden');
  };
  const shown = show<Objects>({ list } as unknown as KubernetesClient, SOURCES, pictureOf, {
    watch: true,
    output,
  });
  await expect(shown).rejects.toThrow('is forbidden');
});

test('a terminal shows the whole of a sentence that is longer than its lines', async () => {
  const apiserver = new PlayedApiserver();
  const { output, text } = outputs(true);
  const said = 'science/job/a waits in queue default, position 3';
  const sentence = (): Picture => ({ rows: [{ key: 'text', cells: [said], state: said }], done: true });
  await show<Objects>(apiserver.client, SOURCES, sentence, { watch: true, output });
  expect(text()).toMatch(/science\/job\/a waits in queue default,.*\n.*position 3/);
});
