/** A Service in front of the webhook's processes: new connections go to one of the ready ones, open ones stay where they are. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

export class Service {
  private readonly ports: number[] = [];
  private next = 0;

  private constructor(private readonly server: Server) {}

  static async create(): Promise<Service> {
    const server = createServer();
    const service = new Service(server);
    server.on('connection', (client) => {
      const port = service.ports[service.next++ % service.ports.length];
      if (port === undefined) {
        client.destroy();
        return;
      }
      const upstream = connect(port, '127.0.0.1');
      // Either end closes the other, as if there were one connection.
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return service;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  add(port: number): void {
    this.ports.push(port);
  }

  remove(port: number): void {
    this.ports.splice(this.ports.indexOf(port), 1);
  }

  stop(): void {
    this.server.close();
  }
}
