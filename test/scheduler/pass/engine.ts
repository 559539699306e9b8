import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary } from '../../../runtime/fluxion/library/find';
import { embeddedFluxion } from '../../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../../runtime/fluxion/types';

/** SIMULATION_ENGINE=library: flux-sched's library answers in simulations of passes. */
const isLibrary = process.env.SIMULATION_ENGINE === 'library';

export async function simulationFluxion(): Promise<Fluxion> {
  if (!isLibrary) return embeddedFluxion();
  const path = findLibrary(undefined);
  if (path === undefined) throw new Error('SIMULATION_ENGINE=library needs FLUXION_LIBRARY');
  return loadLibraryEngine(path);
}
