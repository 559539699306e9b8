/** The fluxion role: the Fluxion service with its probes. */
import type { Config } from '../config';
import { chooseEngine } from '../fluxion/server/engine-choice';
import { startFluxionServer } from '../fluxion/server/server';
import { serveObservability } from '../observability/http';
import type { Logger } from '../observability/log';
import { createRegistry } from '../observability/metrics';
import type { Role } from './role';

export async function startFluxion({ fluxion, http, metrics }: Config, log: Logger): Promise<Role> {
  const { listen, engine, library, policy } = fluxion;
  const choice = { engine, policy, log, ...(library === undefined ? {} : { library }) };
  const server = await startFluxionServer({ address: listen, engine: await chooseEngine(choice), log });
  const registry = createRegistry();
  const probes = await serveObservability({ http, metrics, registry, notReady: () => [] });
  // Only a signal ends the role: an engine that fails reports the error to its callers and is initialised again.
  return {
    failed: new Promise(() => {}),
    stop: async () => {
      await server.stop();
      await probes.stop();
    },
  };
}
