/**
 * The TCP socket of a database connection. The address of a deleted database pod drops packets, and without a limit of
 * its own the attempt takes the whole connect timeout while the DNS name has a new address already.
 */
import { Socket } from 'node:net';

/** Milliseconds. A first packet that is lost is sent again after one second. */
const ATTEMPT_MS = 1_500;

/** Creates a socket that gives up an address that does not answer. A server that is slow after that is not affected. */
export function databaseSocket(): Socket {
  const socket = new Socket();
  let timer: NodeJS.Timeout | undefined;
  socket.on('connectionAttempt', (address: string, port: number) => {
    clearTimeout(timer);
    const error = new Error(`no connection to ${address}:${port} within ${ATTEMPT_MS / 1000} s`);
    timer = setTimeout(() => socket.destroy(error), ATTEMPT_MS);
  });
  const stop = () => clearTimeout(timer);
  socket.once('connect', stop);
  socket.once('close', stop);
  return socket;
}
