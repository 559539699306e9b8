/** JobSets of tests. */

import { namespaced } from '../../runtime/kubernetes/paths';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { UNTIL_ENDED } from '../stack/workloads';

export const jobSets = namespaced('jobset.x-k8s.io', 'v1alpha2', 'jobsets');

export interface JobSet extends KubernetesObject {
  readonly spec: { readonly suspend?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly restarts?: number;
  };
}

/** Pods of one replicated Job. */
export interface SetShape {
  /** @default 1 */
  readonly replicas?: number;
  /** Pods of each Job. @default 1 */
  readonly pods?: number;
  /** Cores of each pod. @default 1 */
  readonly cores?: number;
  /** How long a pod runs. @default - until the test ends it */
  readonly runs?: string;
  /** Exit code of its pods. @default 0 */
  readonly exitCode?: number;
  readonly dependsOn?: readonly { readonly name: string; readonly status: 'Ready' | 'Complete' }[];
}

export function jobSet(
  name: string,
  sets: Readonly<Record<string, SetShape>>,
  { metadata = {}, spec = {} }: { readonly metadata?: object; readonly spec?: object } = {},
) {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, ...metadata },
    spec: { ...spec, replicatedJobs: Object.entries(sets).map(replicatedJob) },
  };
}

function replicatedJob([name, shape]: [string, SetShape]) {
  const { replicas = 1, pods = 1, cores = 1, runs = UNTIL_ENDED, exitCode = 0, dependsOn } = shape;
  return {
    name,
    replicas,
    ...(dependsOn && { dependsOn }),
    template: {
      spec: {
        parallelism: pods,
        completions: pods,
        backoffLimit: 0,
        template: {
          metadata: {
            annotations: {
              'fluxqueue.test/duration': runs,
              ...(exitCode !== 0 && { 'fluxqueue.test/exit-code': `${exitCode}` }),
            },
          },
          spec: {
            restartPolicy: 'Never',
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${cores}` } } }],
          },
        },
      },
    },
  };
}
