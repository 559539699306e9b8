/** The settings of the roles that the demo and `fluxqueue up` start. */
import type { ConfigInput } from '../../runtime/config';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { Roles } from '../../test/stack/roles';

/** The picture of the demo has one column for each core. */
export const UNITS = DEFAULT_UNITS;

/** The same for the controller and the reader, which counts in the units of its own settings. */
export function roleSettings({ fluxionAddress }: Roles): ConfigInput {
  return { logLevel: 'warn', fluxion: { address: fluxionAddress }, units: { ...UNITS } };
}
