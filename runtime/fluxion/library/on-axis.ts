import type { Jobspec } from '../../jobspec/types';
import type { TimeAxis } from '../time-axis';

/** The request with its duration on the axis: every match is at second 0 of it. */
export function onAxis(axis: TimeAxis, jobspec: Jobspec): Jobspec {
  const system = jobspec.attributes?.system;
  // The jobspec is invalid; the library reports the error.
  if (system === undefined) return jobspec;
  const duration = axis.duration(axis.second, system.duration ?? 0);
  return { ...jobspec, attributes: { ...jobspec.attributes, system: { ...system, duration } } };
}
