/**
 * A TCP proxy with the faults of networks: it resets connections and refuses new ones until it is restored, it goes
 * silent on the connections that it has or on all, it is slow, and it delivers late what clients sent over them.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  private readonly connections = new Set<Connection>();
  private isOpen = true;
  private isFrozen = false;
  /** Milliseconds by which each piece of data comes later, in either direction. */
  delayMs = 0;
  /** Pieces of data that clients have sent. */
  sent = 0;

  private constructor(private readonly server: Server) {}

  /** Starts a proxy in front of a local port. */
  static async before(port: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (socket) => proxy.accept(socket, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resets all connections and refuses new ones. */
  cut(): void {
    this.isOpen = false;
    for (const connection of this.connections) connection.reset();
  }

  restore(): void {
    this.isOpen = true;
  }

  /** The connections of this moment stay open and carry no byte any more; new ones work. */
  silence(): void {
    for (const connection of this.connections) connection.hold();
  }

  /** All connections, also new ones, stay open and carry no byte any more. */
  freeze(): void {
    this.isFrozen = true;
    this.silence();
  }

  /** New connections work again; the frozen ones are reset. */
  thaw(): void {
    this.isFrozen = false;
    for (const connection of this.connections) connection.reset();
  }

  /**
   * Breaks the silent connections for their clients as soon as a client has sent over one of them what it wants an answer to.
   *
   * @param isWhole whether these bytes are all of it
   */
  async breakAfter(isWhole: (sent: Buffer) => boolean): Promise<void> {
    const silent = [...this.connections];
    await Promise.race(silent.map((connection) => connection.sent(isWhole)));
    for (const connection of silent) connection.breakClient();
  }

  /** Delivers what clients sent over silent connections. Resolves when the server has answered it all. */
  async deliver(): Promise<void> {
    await Promise.all([...this.connections].map((connection) => connection.deliver()));
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket, server: Socket): void {
    const connection = new Connection(client, server, this);
    this.connections.add(connection);
    server.on('close', () => this.connections.delete(connection));
    if (!this.isOpen) connection.reset();
    if (this.isFrozen) connection.hold();
  }
}

class Connection {
  /** What the client sent while the connection was silent. */
  private held: Buffer[] | undefined;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly proxy: TcpProxy,
  ) {
    // Resets are expected; the close event propagates them to the other end.
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    client.on('data', (data) => {
      proxy.sent += 1;
      this.later(() => {
        if (this.held === undefined) server.write(data);
        else this.held.push(data);
      });
    });
    server.on('data', (data) =>
      this.later(() => {
        if (this.held === undefined) client.write(data);
      }),
    );
    client.on('close', () => {
      if (this.held === undefined) server.destroy();
    });
    server.on('close', () => client.destroy());
  }

  /** Timers of the same length end in their order, so no data overtakes other data. */
  private later(pass: () => void): void {
    if (this.proxy.delayMs === 0) pass();
    else setTimeout(() => !this.client.destroyed && pass(), this.proxy.delayMs);
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server.destroy();
  }

  hold(): void {
    this.held ??= [];
  }

  /** Resolves when the silent client has sent bytes that are whole. */
  sent(isWhole: (sent: Buffer) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.client.on('data', () => {
        if (isWhole(Buffer.concat(this.held ?? []))) resolve();
      });
    });
  }

  /** The client's end is reset; what it sent can still be delivered. */
  breakClient(): void {
    this.client.resetAndDestroy();
  }

  async deliver(): Promise<void> {
    if (this.held === undefined || this.server.destroyed) return;
    const closed = once(this.server, 'close');
    for (const data of this.held.splice(0)) this.server.write(data);
    this.server.end();
    await closed;
  }
}
