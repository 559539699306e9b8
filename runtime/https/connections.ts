/**
 * The open connections of a server that anybody may reach. If there are too many, the address with the most of them loses its oldest: one
 * client cannot keep the others from connecting.
 */
import type { Socket } from 'node:net';

export class Connections {
  readonly #byAddress = new Map<string, Set<Socket>>();
  #count = 0;

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    const address = addressOf(socket);
    const own = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, own.add(socket));
    this.#count += 1;
    socket.once('close', () => this.#remove(address, socket));
    if (this.#count > this.most) this.#endOne();
  }

  #endOne(): void {
    let [busiest, most] = ['', 0];
    for (const [address, { size }] of this.#byAddress) if (size > most) [busiest, most] = [address, size];
    const [oldest] = this.#byAddress.get(busiest) ?? [];
    if (oldest === undefined) return;
    // It is closed a moment later, and must not be chosen again until then.
    this.#remove(busiest, oldest);
    oldest.destroy();
  }

  #remove(address: string, socket: Socket): void {
    const own = this.#byAddress.get(address);
    if (own?.delete(socket) !== true) return;
    this.#count -= 1;
    if (own.size === 0) this.#byAddress.delete(address);
  }
}

/** Of the client; empty if the connection has ended. */
export function addressOf({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress;
}
