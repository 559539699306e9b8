/**
 * The open connections of a server that anybody may reach. If there are too many, the address with the most of them loses one, if
 * possible one without a request: a client cannot keep the others from connecting.
 */
import type { Socket } from 'node:net';

type Client = Pick<Socket, 'remoteAddress' | 'remotePort'>;

interface Connection {
  readonly socket: Socket;
  /** Requests under way. */
  requests: number;
}

export class Connections {
  /** Address -> port -> connection, the oldest first. */
  readonly #byAddress = new Map<string, Map<number, Connection>>();
  #count = 0;

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    const [address, port] = [addressOf(socket), socket.remotePort ?? 0];
    const own = this.#byAddress.get(address) ?? new Map<number, Connection>();
    const connection = { socket, requests: 0 };
    this.#byAddress.set(address, own.set(port, connection));
    this.#count += 1;
    socket.once('close', () => this.#remove(address, port, connection));
    if (this.#count > this.most) this.#endOne();
  }

  /** A request of this client begins. @returns to be called at its end */
  begin(client: Client): () => void {
    const connection = this.#byAddress.get(addressOf(client))?.get(client.remotePort ?? 0);
    if (connection === undefined) return () => undefined;
    connection.requests += 1;
    return () => {
      connection.requests -= 1;
    };
  }

  #endOne(): void {
    let [busiest, most] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > most) [busiest, most] = [address, size];
    const own = [...(this.#byAddress.get(busiest) ?? [])];
    const [port, connection] = own.find(([, { requests }]) => requests === 0) ?? own[0] ?? [];
    if (port === undefined || connection === undefined) return;
    // It is closed a moment later, and must not be chosen again until then.
    this.#remove(busiest, port, connection);
    connection.socket.destroy();
  }

  #remove(address: string, port: number, connection: Connection): void {
    const own = this.#byAddress.get(address);
    if (own?.get(port) !== connection) return;
    own.delete(port);
    this.#count -= 1;
    if (own.size === 0) this.#byAddress.delete(address);
  }
}

/** Of the client; empty if the connection has ended. */
export function addressOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress;
}
