import { FluxqError } from '../../errors';
import type { Engine } from '../engine';

export async function loadLibraryEngine(path: string): Promise<Engine> {
  throw new FluxqError('FLUXQ_FLUXION_LIBRARY', 'can not be loaded yet', { value: path });
}
