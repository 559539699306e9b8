import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Connections } from '../../runtime/https/connections';

class Client extends EventEmitter {
  destroyed = false;
  constructor(
    readonly remoteAddress: string | undefined,
    readonly remotePort: number | undefined,
  ) {
    super();
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const add = (connections: Connections, client: Client) => connections.add(client as unknown as Socket);

test('connections that ended before they were seen do not count for ever', () => {
  const connections = new Connections(3);
  const ended = Array.from({ length: 3 }, () => new Client(undefined, undefined));
  for (const client of ended) add(connections, client);
  for (const client of ended) client.emit('close');
  const good = [1, 2, 3].map((port) => new Client('10.0.0.1', port));
  for (const client of good) add(connections, client);
  expect(good.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
});

test('the address with the most connections loses its oldest without a request', () => {
  const connections = new Connections(3);
  const busy = [1, 2, 3].map((port) => new Client('10.0.0.1', port));
  for (const client of busy) add(connections, client);
  const end = connections.begin(busy[0]!);
  const other = new Client('10.0.0.2', 1);
  add(connections, other);
  expect([...busy, other].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false]);
  end();
  add(connections, new Client('10.0.0.3', 1));
  expect([...busy, other].map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
});
