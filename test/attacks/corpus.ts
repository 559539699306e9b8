import type { Attack } from './attack';
import { CONTROLLER_ATTACKS } from './corpus-controller';
import { GRACE_ATTACKS } from './corpus-grace';
import { GRANT_ATTACKS } from './corpus-grants';
import { GROUP_ATTACKS } from './corpus-groups';
import { READER_ATTACKS } from './corpus-reader';
import { SCHEDULER_ATTACKS } from './corpus-scheduler';
import { USER_ATTACKS } from './corpus-users';
import { WEBHOOK_ATTACKS } from './corpus-webhook';

/** Every attack; docs/security.md lists them by what they want. */
export const ATTACKS: readonly Attack[] = [
  ...USER_ATTACKS,
  ...GRANT_ATTACKS,
  ...GRACE_ATTACKS,
  ...GROUP_ATTACKS,
  ...CONTROLLER_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...READER_ATTACKS,
  ...SCHEDULER_ATTACKS,
];
