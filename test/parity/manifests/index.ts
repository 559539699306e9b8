/** All cases. */
import type { Case } from '../case';
import { JOB_CASES } from './jobs';
import { PLACEMENT_CASES } from './placement';
import { POD_CASES } from './pods';
import { SERVICE_CASES } from './services';

export const CASES: readonly Case[] = [...JOB_CASES, ...SERVICE_CASES, ...POD_CASES, ...PLACEMENT_CASES];
