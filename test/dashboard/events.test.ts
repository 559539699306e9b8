/** How events reach browsers that read slowly. */
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { EventWriter } from '../../runtime/dashboard/events';
import type { Changes } from '../../runtime/dashboard/messages';

/** A response of which nothing is read until the test lets it. */
class SlowResponse extends Writable {
  readonly parts: Buffer[] = [];
  private next: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 64 * 1024 });
  }

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  override _write(part: Buffer, _: string, done: () => void): void {
    this.parts.push(part);
    this.next = done;
  }

  async readAll(): Promise<string> {
    for (let read = -1; read !== this.parts.length; ) {
      read = this.parts.length;
      this.next?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return Buffer.concat(this.parts).toString();
  }
}

const changes = (bytes: number, letter = 'x'): Changes => ({
  jobs: [],
  goneJobs: [letter.repeat(bytes)],
  nodes: [],
  goneNodes: [],
});

const open = () => {
  const response = new SlowResponse();
  return { response, ...new EventWriter().open(response as unknown as ServerResponse) };
};

test('a long message is written in parts, as fast as the browser reads, and arrives whole', async () => {
  const { response, tell } = open();
  const [first, second] = [changes(5_000_000), changes(300_000, 'y')];
  tell(first);
  tell(second);
  expect(response.writableLength).toBeLessThan(200_000);
  expect(await response.readAll()).toBe(
    `event: all\ndata: ${JSON.stringify(first)}\n\nevent: changes\ndata: ${JSON.stringify(second)}\n\n`,
  );
});

test('a message is one text for all browsers', () => {
  const writer = new EventWriter();
  const [one, two] = [new SlowResponse(), new SlowResponse()];
  const message = changes(5_000_000);
  for (const response of [one, two]) writer.open(response as unknown as ServerResponse).tell(message);
  expect(one.parts[0]!.buffer).toBe(two.parts[0]!.buffer);
});

test('ends with the advice to connect again, and writes nothing behind it', async () => {
  const { response, tell, end } = open();
  tell(changes(10));
  end();
  tell(changes(10));
  expect(await response.readAll()).toMatch(/\n\nevent: again\ndata: ""\n\n$/);
});

test('an event that is not whole is cut off, and not continued by another one', async () => {
  const { response, tell, end } = open();
  tell(changes(1_000_000));
  end();
  expect(response.destroyed).toBe(true);
  expect(await response.readAll()).not.toContain('again');
});

test('a browser for which too much waits is dropped', () => {
  const { response, tell } = open();
  for (let i = 0; i < 7; i++) tell(changes(10_000_000));
  expect(response.destroyed).toBe(true);
});
