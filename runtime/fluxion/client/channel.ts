/** One gRPC channel whose calls are promises with deadlines. */
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { parseAddress } from '../address';

/** Certificates and keys in PEM. */
export interface ClientTls {
  readonly ca: string;
  /** Client certificate, if the server requires one. */
  readonly cert?: string;
  readonly key?: string;
  /** Name in the server's certificate, if it is not the host of the address. */
  readonly serverName?: string;
}

/** An entry of the generated service definition. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export class Channel {
  private readonly client: Client;

  constructor(address: string, tls: ClientTls | undefined) {
    const { target } = parseAddress(address);
    this.client = new Client(target, channelCredentials(tls), {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      // A call that may have reached the server is never sent twice: the caller initialises and replays instead.
      'grpc.enable_retries': 0,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2000,
      ...(tls?.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': tls.serverName }),
    });
  }

  /**
   * @param waitForReady waits for the connection until the deadline instead of failing at once
   * @throws grpc's ServiceError
   */
  call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
    waitForReady = false,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const metadata = new Metadata({ waitForReady });
      const options = { deadline: Date.now() + timeoutMs };
      this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error, response) => {
          if (error === null) resolve(response as Response);
          else reject(error);
        },
      );
    });
  }

  close(): void {
    this.client.close();
  }
}

function channelCredentials(tls: ClientTls | undefined) {
  if (tls === undefined) return credentials.createInsecure();
  const bytes = (pem: string | undefined) => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.cert));
}
