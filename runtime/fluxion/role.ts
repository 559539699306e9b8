/** `fluxqueue fluxion`: the role as runtime/main.ts starts it. */
import type { Config } from '../config';
import type { Logger } from '../observability/log';
import type { Role } from '../role';
import { serveFluxion } from './serve';

export async function startFluxion({ fluxion }: Config, log: Logger): Promise<Role> {
  const { listen, engine, library } = fluxion;
  const server = await serveFluxion({
    address: listen,
    engine,
    log,
    ...(library === undefined ? {} : { library }),
  });
  // Nothing ends it but a signal: an engine that breaks answers its callers and is initialised anew.
  return { stop: () => server.stop(), failed: new Promise(() => {}) };
}
