import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { FluxqError } from '../../runtime/errors';

// Below the ephemeral port range of Linux, so that the port of a restarting server stays free.
const FIRST = 12_000;
const LAST = 32_000;

/**
 * Finds free TCP ports on 127.0.0.1. Another program may take a port before the caller listens on it, so the caller
 * should retry with other ports.
 *
 * @throws FLUXQ_TEST_NO_PORT after 100 attempts per port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 100 * count) {
      throw new FluxqError('FLUXQ_TEST_NO_PORT', 'there is no free TCP port on 127.0.0.1', {
        value: `${FIRST}-${LAST}`,
        remedy: 'stop unused servers',
        retryable: true,
      });
    }
    const port = randomInt(FIRST, LAST);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  const free = await Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'close').then(() => false),
  ]).catch(() => false);
  if (free) {
    server.close();
    await once(server, 'close');
  }
  return free;
}
