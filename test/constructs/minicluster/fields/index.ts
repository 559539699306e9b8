/**
 * Every field of MiniCluster v1alpha2 with the prop that sets it, its effect, and a value that shows the effect.
 * fields.test.ts renders each of them; `npm run generate:fields` writes docs/minicluster-fields.md from them.
 */
import { CLUSTER_FIELDS } from './cluster';
import { CONTAINER_FIELDS } from './container';
import type { Field } from './field';
import { FLUX_FIELDS } from './flux';
import { POD_FIELDS } from './pod';
import { VOLUME_FIELDS } from './volume';

export type { Field } from './field';

export const FIELDS: readonly Field[] = [
  ...CONTAINER_FIELDS,
  ...VOLUME_FIELDS,
  ...CLUSTER_FIELDS,
  ...FLUX_FIELDS,
  ...POD_FIELDS,
];
