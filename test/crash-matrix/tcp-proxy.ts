/** A door on a TCP connection: what goes through it can be cut off, and finds no way in until it is open again. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private isOpen = true;

  private constructor(private readonly server: Server) {}

  /** Before a port of this machine. */
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

  /** Every connection breaks, and none can be made. */
  cut(): void {
    this.isOpen = false;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  open(): void {
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
      // A reset is what it is for; the other end hears of it by the close.
      socket.on('error', () => socket.destroy());
    }
    if (!this.isOpen) client.resetAndDestroy();
    client.pipe(server).pipe(client);
  }
}
