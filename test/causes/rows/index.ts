/** All rows. */
import type { Row } from '../row';
import { ADMISSION_ROWS } from './admission';
import { ARRAY_ROWS } from './arrays';
import { DELETION_ROWS } from './deletion';
import { ELASTIC_ROWS } from './elastic';
import { FAULT_ROWS } from './faults';
import { GATE_ROWS } from './gates';
import { INJECTED_ROWS } from './injected';
import { NAME_ROWS } from './names';
import { NODE_ROWS } from './nodes';
import { PLACEMENT_ROWS } from './placement';
import { REFUSED_ROWS } from './refused';
import { REPLACEMENT_ROWS } from './replacements';
import { REQUEUE_ROWS } from './requeues';
import { RESOURCE_ROWS } from './resources';
import { SERVICE_ROWS } from './services';
import { STARTUP_ROWS } from './startup';
import { VOLUME_ROWS } from './volumes';

export const ROWS: readonly Row[] = [
  ...NODE_ROWS,
  ...REFUSED_ROWS,
  ...STARTUP_ROWS,
  ...GATE_ROWS,
  ...NAME_ROWS,
  ...DELETION_ROWS,
  ...PLACEMENT_ROWS,
  ...VOLUME_ROWS,
  ...RESOURCE_ROWS,
  ...INJECTED_ROWS,
  ...REQUEUE_ROWS,
  ...REPLACEMENT_ROWS,
  ...ARRAY_ROWS,
  ...ELASTIC_ROWS,
  ...FAULT_ROWS,
  ...SERVICE_ROWS,
  ...ADMISSION_ROWS,
];
