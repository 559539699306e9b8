/** Chooses the engine that answers in this process: flux-sched's library or the embedded matcher. */
import { HISTORY_POLICIES, type MatchPolicy } from '../../../constructs/api/policies';
import type { Engine, FluxionLog } from '../engine';
import { loadLibraryEngine } from '../library/engine';
import { findLibrary, missingLibrary } from '../library/find';
import { EmbeddedEngine } from '../matcher/engine';

export interface EngineChoice {
  /** `auto` takes the library where it is found, else the embedded matcher. @default "auto" */
  readonly engine?: 'auto' | 'embedded' | 'library';
  /** Path of libreapi_cli.so or of its folder. @default - FLUXION_LIBRARY, then the usual install folders */
  readonly library?: string;
  /** With `auto`, a policy that the library does not keep is answered by the embedded matcher. @default - any policy */
  readonly policy?: MatchPolicy;
  readonly log: FluxionLog;
}

/** @throws FluxqError FLUXQ_FLUXION_LIBRARY, FLUXQ_FLUXION_LIBRARY_TOO_OLD */
export async function chooseEngine({ engine = 'auto', library, policy, log }: EngineChoice): Promise<Engine> {
  if (engine === 'embedded') return new EmbeddedEngine();
  if (engine === 'auto' && policy !== undefined && HISTORY_POLICIES.includes(policy)) {
    log.info({ policy }, 'the embedded matcher answers: the library does not keep the order of this policy');
    return new EmbeddedEngine();
  }
  const path = findLibrary(library);
  if (path !== undefined) return loadLibraryEngine(path, {}, log);
  if (engine === 'library') throw missingLibrary(library);
  log.info({}, 'no flux-sched library was found; the embedded matcher answers');
  return new EmbeddedEngine();
}
