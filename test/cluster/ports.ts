import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { FluxqError } from '../../runtime/errors';

// Below the range from which Linux takes the local ports of outgoing
// connections: a server that restarts finds its port still free.
const FIRST = 12_000;
const LAST = 32_000;

/**
 * TCP ports on 127.0.0.1 that nobody listens on now. Between this answer and
 * the listener's start another program may take one: retry with fresh ports.
 *
 * @throws FLUXQ_TEST_NO_PORT after 100 tries per port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 100 * count) {
      throw new FluxqError('FLUXQ_TEST_NO_PORT', 'no free TCP port on 127.0.0.1', {
        value: `${FIRST}-${LAST}`,
        remedy: 'stop servers that are not needed',
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
