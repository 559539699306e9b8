/** The gRPC health service of one server: SERVING until the server stops. */
import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../generated/health';

type Answer = sendUnaryData<HealthCheckResponse>;
type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

export class Health {
  private serving = true;
  private readonly watchers = new Set<Watcher>();

  /** @param services names of services, beside the empty name, which is the server itself */
  constructor(private readonly services: readonly string[]) {}

  addTo(server: Server): void {
    server.addService(HealthService, {
      check: (call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>, answer: Answer) => {
        if (!this.knows(call.request.service)) answer({ code: status.NOT_FOUND, details: 'no such service' });
        else answer(null, this.state());
      },
      watch: (call: Watcher) => {
        call.write(
          this.knows(call.request.service) ? this.state() : { status: ServingStatus.SERVICE_UNKNOWN },
        );
        this.watchers.add(call);
        call.on('close', () => this.watchers.delete(call));
      },
    });
  }

  /** Sends NOT_SERVING to all watches and ends them: the server is about to stop. */
  stop(): void {
    this.serving = false;
    for (const watcher of this.watchers) {
      watcher.write(this.state());
      watcher.end();
    }
  }

  private knows(service: string): boolean {
    return service === '' || this.services.includes(service);
  }

  private state(): HealthCheckResponse {
    return { status: this.serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING };
  }
}
