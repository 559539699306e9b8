/**
 * One corpus for both forms of admission: objects of users and controllers with the expected outcome of their creation. The
 * unit test of the rules and the test on a real apiserver read the same entries.
 */
import { ASSIGNED_ENTRIES } from './corpus-assigned';
import { JOB_ENTRIES } from './corpus-jobs';
import { POD_ENTRIES } from './corpus-pods';
import { SETTING_ENTRIES } from './corpus-settings';
import { USER_ENTRIES } from './corpus-users';
import type { Entry } from './objects';

export const CORPUS: readonly Entry[] = [
  ...JOB_ENTRIES,
  ...POD_ENTRIES,
  ...ASSIGNED_ENTRIES,
  ...SETTING_ENTRIES,
  ...USER_ENTRIES,
];
