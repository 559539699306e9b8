/** Objects at every limit of the API, as tenants may create them. */
import { JOBS } from './corpus-jobs';
import { OTHERS } from './corpus-others';
import { POD_SPECS } from './corpus-pod-specs';
import type { Poison } from './objects';

export const CORPUS: readonly Poison[] = [...JOBS, ...POD_SPECS, ...OTHERS];
