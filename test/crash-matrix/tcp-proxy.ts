/** A TCP proxy whose connections a test can reset, and which refuses new ones until it is restored. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private isOpen = true;

  private constructor(private readonly server: Server) {}

  /** Starts a proxy in front of a local port. */
  static async before(port: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (socket) => proxy.pipe(socket, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resets all connections and refuses new ones. */
  cut(): void {
    this.isOpen = false;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  restore(): void {
    this.isOpen = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private pipe(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
      // Resets are expected; the close event propagates them to the other end.
      socket.on('error', () => socket.destroy());
    }
    if (!this.isOpen) client.resetAndDestroy();
    client.pipe(server).pipe(client);
  }
}
