/** Paths of the read API (docs/decisions/0042-read-api.md), and whether a cluster has it. */
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import type { KubernetesClient } from './client';
import { ApiError, ifFound } from './errors';
import { clusterWide, namespaced } from './paths';

export const histories = namespaced(READ_GROUP, READ_VERSION, 'histories');
export const usages = namespaced(READ_GROUP, READ_VERSION, 'usages');
export const plans = namespaced(READ_GROUP, READ_VERSION, 'plans');
export const whatIfs = namespaced(READ_GROUP, READ_VERSION, 'whatifs');
export const nodeReports = clusterWide(READ_GROUP, READ_VERSION, 'nodereports');
export const resourceGraphs = clusterWide(READ_GROUP, READ_VERSION, 'resourcegraphs');
export const traces = clusterWide(READ_GROUP, READ_VERSION, 'traces');

/**
 * Whether the cluster has the read API, which a refusal does not tell: rights are checked first, also for what is not installed. Every user
 * may read discovery. In a cluster that forbids that, it counts as installed.
 */
export async function hasReadApi(client: Pick<KubernetesClient, 'get'>): Promise<boolean> {
  try {
    return (await ifFound(client.get<object>(`/apis/${READ_GROUP}`, { retries: 0 }))) !== undefined;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}
