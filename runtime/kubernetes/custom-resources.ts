/** The FluxJob and FluxSetup resources as the apiserver returns them, and the paths of the read API. */
import {
  FLUXJOB_GROUP,
  FLUXJOB_VERSION,
  FLUXSETUP_GROUP,
  FLUXSETUP_VERSION,
  READ_GROUP,
  READ_VERSION,
} from '../../constructs/api/labels';
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import type { FluxSetupSpec } from '../../imports/fluxsetup-flux-framework.org';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import { clusterWide, namespaced } from './paths';
import type { KubernetesObject } from './types';

export const fluxJobs = namespaced(FLUXJOB_GROUP, FLUXJOB_VERSION, 'fluxjobs');

export interface FluxJobObject extends KubernetesObject {
  readonly spec: FluxJobProps['spec'];
  readonly status?: FluxJobStatus;
}

/** Discovery of the read API: it has an answer wherever the read API is installed. */
export const READ_DISCOVERY = `/apis/${READ_GROUP}`;
export const histories = namespaced(READ_GROUP, READ_VERSION, 'histories');
export const usages = namespaced(READ_GROUP, READ_VERSION, 'usages');
export const plans = namespaced(READ_GROUP, READ_VERSION, 'plans');
export const whatIfs = namespaced(READ_GROUP, READ_VERSION, 'whatifs');
export const nodeReports = clusterWide(READ_GROUP, READ_VERSION, 'nodereports');
export const resourceGraphs = clusterWide(READ_GROUP, READ_VERSION, 'resourcegraphs');
export const traces = clusterWide(READ_GROUP, READ_VERSION, 'traces');

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
