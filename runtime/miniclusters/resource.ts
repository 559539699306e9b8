/** The MiniCluster resource as the apiserver stores it. */
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../../constructs/api/labels';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import { namespaced } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';

export const MINICLUSTER_API_VERSION = `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`;

export const miniClusters = namespaced(MINICLUSTER_GROUP, MINICLUSTER_VERSION, 'miniclusters');

export interface MiniCluster extends KubernetesObject {
  readonly spec: MiniClusterSpec;
  readonly status?: MiniClusterStatus;
}
