/** All cases. */
import type { Case } from '../case';
import { ARRAY_CASES } from './arrays';
import { CHANGE_CASES } from './changes';
import { JOB_CASES } from './jobs';
import { LIMIT_CASES } from './limits';
import { PLACEMENT_CASES } from './placement';
import { POD_CASES } from './pods';
import { SERVICE_CASES } from './services';

export const CASES: readonly Case[] = [
  ...JOB_CASES,
  ...SERVICE_CASES,
  ...POD_CASES,
  ...PLACEMENT_CASES,
  ...ARRAY_CASES,
  ...LIMIT_CASES,
  ...CHANGE_CASES,
];
