/** The fluxion role: an engine behind the gRPC server. */

import type { Engine, FluxionLog } from '../engine';
import { loadLibraryEngine } from '../library/engine';
import { findLibrary, missingLibrary } from '../library/find';
import { EmbeddedEngine } from '../matcher/engine';
import { type FluxionServer, type ServerTls, startFluxionServer } from './server';

export interface ServeFluxionConfig {
  /** `unix:/path` or `host:port`. */
  readonly address: string;
  /** `auto` takes the library where it is found, else the embedded matcher. @default "auto" */
  readonly engine?: 'auto' | 'embedded' | 'library';
  /** Path of libreapi_cli.so or its folder. @default - FLUXION_LIBRARY, then the usual places */
  readonly library?: string;
  /** @default - plain text, which only a Unix socket or loopback allows */
  readonly tls?: ServerTls;
  /** Plain text beyond this machine. @default false */
  readonly insecure?: boolean;
  readonly log: FluxionLog;
}

/** @throws FluxqError FLUXQ_FLUXION_ADDRESS, FLUXQ_FLUXION_INSECURE, FLUXQ_FLUXION_LIBRARY */
export async function serveFluxion(config: ServeFluxionConfig): Promise<FluxionServer> {
  const { engine: _, library: __, ...server } = config;
  return startFluxionServer({ ...server, engine: await chooseEngine(config) });
}

async function chooseEngine({ engine = 'auto', library, log }: ServeFluxionConfig): Promise<Engine> {
  if (engine === 'embedded') return new EmbeddedEngine();
  const path = findLibrary(library);
  if (path !== undefined) {
    return loadLibraryEngine(path);
  }
  if (engine === 'library') throw missingLibrary(library);
  log.info({}, 'no flux-sched library found: the embedded matcher answers');
  return new EmbeddedEngine();
}
