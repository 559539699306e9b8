/**
 * The open connections of a server that anybody may reach. If there are too many, the address with the most of them loses one, if
 * possible one without a request: a client cannot keep the others from connecting.
 */
import type { Socket } from 'node:net';

type Client = Pick<Socket, 'remoteAddress' | 'remotePort'>;

interface Connection {
  readonly socket: Socket;
  /** Of the client; undefined if it had gone before it was seen. */
  readonly port: number | undefined;
  /** Requests under way. */
  requests: number;
}

export class Connections {
  /** By address, the oldest first. */
  readonly #byAddress = new Map<string, Set<Connection>>();
  #count = 0;

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    const address = addressOf(socket);
    const own = this.#byAddress.get(address) ?? new Set<Connection>();
    const connection = { socket, port: socket.remotePort, requests: 0 };
    this.#byAddress.set(address, own.add(connection));
    this.#count += 1;
    socket.once('close', () => this.#remove(address, connection));
    if (this.#count > this.most) this.#endOne();
  }

  /** A request of this client begins. @returns to be called at its end */
  begin(client: Client): () => void {
    let connection: Connection | undefined;
    for (const each of this.#byAddress.get(addressOf(client)) ?? [])
      if (each.port === client.remotePort) connection = each;
    if (connection === undefined) return () => undefined;
    const found = connection;
    found.requests += 1;
    return () => {
      found.requests -= 1;
    };
  }

  #endOne(): void {
    let [busiest, most] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > most) [busiest, most] = [address, size];
    const own = [...(this.#byAddress.get(busiest) ?? [])];
    const connection = own.find(({ requests }) => requests === 0) ?? own[0];
    if (connection === undefined) return;
    // It is closed a moment later, and must not be chosen again until then.
    this.#remove(busiest, connection);
    connection.socket.destroy();
  }

  #remove(address: string, connection: Connection): void {
    const own = this.#byAddress.get(address);
    if (own?.delete(connection) !== true) return;
    this.#count -= 1;
    if (own.size === 0) this.#byAddress.delete(address);
  }
}

/** Of the client; empty if the connection has ended. */
export function addressOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress;
}
