/** The gRPC server: address, certificates, limits, health, graceful stop. */
import { chmod, lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { FluxqError, messageOf } from '../../errors';
import { type Address, isLocal, parseAddress } from '../address';
import type { Engine, FluxionLog } from '../engine';
import { FluxionServiceService } from '../generated/fluxion';
import { SerialExecutor } from '../serial-executor';
import { Health } from './health';
import { FluxionService } from './service';

/** Certificates and keys in PEM. */
interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** Callers must present a certificate of this authority. @default - no client certificates */
  readonly clientCa?: string;
}

export interface FluxionServerOptions {
  /** `unix:/path` or `host:port`; port 0 selects a free port. */
  readonly address: string;
  readonly engine: Engine;
  /** @default - no TLS, which requires a Unix socket, a loopback address or {@link insecure} */
  readonly tls?: ServerTls;
  /** Allows plain text beyond this machine: anyone who reaches the port may cancel jobs. @default false */
  readonly insecure?: boolean;
  /** Largest request in bytes; the JGF of 10,000 nodes of 72 units has about 250 MB. @default 512 MiB */
  readonly maxRequestBytes?: number;
  /** Time for running calls to end at stop, in milliseconds. @default 5000 */
  readonly graceMs?: number;
  readonly log: FluxionLog;
}

export interface FluxionServer {
  /** The given address with the actual port. */
  readonly address: string;
  stop(): Promise<void>;
}

const SERVICE = 'fluxion.FluxionService';

/** @throws FluxqError FLUXQ_FLUXION_ADDRESS, FLUXQ_FLUXION_INSECURE */
export async function startFluxionServer(options: FluxionServerOptions): Promise<FluxionServer> {
  const { engine, log, maxRequestBytes = 512 * 1024 * 1024, graceMs = 5000 } = options;
  const address = parseAddress(options.address);
  const credentials = credentialsOf(options, address);
  const executor = new SerialExecutor();
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_send_message_length': -1,
  });
  server.addService(FluxionServiceService, new FluxionService(engine, executor).handlers());
  const health = new Health([SERVICE]);
  health.addTo(server);

  if (address.kind === 'unix') await removeStaleSocket(address.path);
  const port = await bind(server, address, credentials);
  // The group of the pod may read and write: controller and sidecar may run as different users.
  if (address.kind === 'unix') await chmod(address.path, 0o660);
  const bound = address.kind === 'unix' ? address.target : address.target.replace(/\d+$/, `${port}`);
  log.info(
    { address: bound, engine: engine.kind, tls: options.tls !== undefined },
    'the Fluxion service listens',
  );

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    health.stop();
    await shutDown(server, graceMs);
    await executor.idle();
    await engine.close();
  };
  return {
    address: bound,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

function credentialsOf({ tls, insecure = false }: FluxionServerOptions, address: Address): ServerCredentials {
  if (tls !== undefined) {
    const pair = { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) };
    const ca = tls.clientCa === undefined ? null : Buffer.from(tls.clientCa);
    return ServerCredentials.createSsl(ca, [pair], ca !== null);
  }
  if (!insecure && !isLocal(address)) {
    throw new FluxqError('FLUXQ_FLUXION_INSECURE', 'this address requires TLS', {
      field: 'address',
      value: address.target,
      remedy: 'set a certificate, listen on a Unix socket or loopback, or set insecure',
    });
  }
  return ServerCredentials.createInsecure();
}

function bind(server: Server, address: Address, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address.target, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(cannotListen(address.target, messageOf(error), error));
    });
  });
}

/** A killed server leaves its socket file behind; a running server must keep its file. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw cannotListen(path, 'the file exists and is not a socket');
  if (await answers(path)) throw cannotListen(path, 'another server listens on this socket');
  await unlink(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function cannotListen(value: string, reason: string, cause?: unknown): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_ADDRESS', `can not listen: ${reason}`, {
    field: 'address',
    value,
    remedy: 'use a free address in a folder that this user may write to',
    cause,
  });
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Some streams, such as health watches of clients that hang, end only by force.
    const timer = setTimeout(() => server.forceShutdown(), graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
