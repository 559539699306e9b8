/** The FluxJob and FluxSetup resources as the apiserver returns them. */
import {
  FLUXJOB_GROUP,
  FLUXJOB_VERSION,
  FLUXSETUP_GROUP,
  FLUXSETUP_VERSION,
} from '../../constructs/api/labels';
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import type { FluxSetupSpec } from '../../imports/fluxsetup-flux-framework.org';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import { namespaced } from './paths';
import type { KubernetesObject } from './types';

export const fluxJobs = namespaced(FLUXJOB_GROUP, FLUXJOB_VERSION, 'fluxjobs');

export interface FluxJobObject extends KubernetesObject {
  readonly spec: FluxJobProps['spec'];
  readonly status?: FluxJobStatus;
}

export const fluxSetups = namespaced(FLUXSETUP_GROUP, FLUXSETUP_VERSION, 'fluxsetups');

/** A type of imports/ as it is in JSON: enums as strings, int-or-string as number or string. */
type AsJson<T> = T extends { readonly value: infer V }
  ? V
  : T extends string
    ? `${T}`
    : T extends object
      ? { readonly [K in keyof T]: AsJson<T[K]> }
      : T;

export type FluxSetupSpecJson = AsJson<FluxSetupSpec>;

export interface FluxSetupObject extends KubernetesObject {
  readonly spec: FluxSetupSpecJson;
  readonly status?: FluxSetupStatus;
}
