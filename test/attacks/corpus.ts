import type { Attack } from './attack';
import { CONTROLLER_ATTACKS } from './corpus-controller';
import { DOOR_ATTACKS } from './corpus-doors';
import { DRY_RUN_ATTACKS } from './corpus-dry-runs';
import { GRACE_ATTACKS } from './corpus-grace';
import { GRANT_ATTACKS } from './corpus-grants';
import { GROUP_ATTACKS } from './corpus-groups';
import { JOB_STATUS_ATTACKS } from './corpus-job-status';
import { KIND_ATTACKS } from './corpus-kinds';
import { OWNER_ATTACKS } from './corpus-owners';
import { REACH_ATTACKS } from './corpus-reach';
import { READER_ATTACKS } from './corpus-reader';
import { SCHEDULER_ATTACKS } from './corpus-scheduler';
import { USER_ATTACKS } from './corpus-users';
import { WEBHOOK_ATTACKS } from './corpus-webhook';

/** Every attack; docs/security.md lists them by what they want. */
export const ATTACKS: readonly Attack[] = [
  ...USER_ATTACKS,
  ...GRANT_ATTACKS,
  ...DOOR_ATTACKS,
  ...GRACE_ATTACKS,
  ...GROUP_ATTACKS,
  ...KIND_ATTACKS,
  ...OWNER_ATTACKS,
  ...REACH_ATTACKS,
  ...CONTROLLER_ATTACKS,
  ...JOB_STATUS_ATTACKS,
  ...DRY_RUN_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...READER_ATTACKS,
  ...SCHEDULER_ATTACKS,
];
