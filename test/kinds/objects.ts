/** An object of each workload kind, as its definition and its controller take it: one pod that leads, and workers. */
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { withField } from '../../runtime/kubernetes/fields';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import type { KubeObject } from '../cluster/api';
import { UNTIL_ENDED } from '../stack/workloads';
import { jobSet } from './jobsets';

/** Names that a controller asks for, or else that make its templates other ones than those of other kinds. */
interface Names {
  /** The pod set of the pod that leads. @default - all pods are workers */
  readonly leader?: string;
  readonly container: string;
}

const REPLICA_SPECS: Readonly<Record<string, Names>> = {
  MPIJob: { leader: 'Launcher', container: 'mpi' },
  PyTorchJob: { leader: 'Master', container: 'pytorch' },
  TFJob: { leader: 'Chief', container: 'tensorflow' },
  XGBoostJob: { leader: 'Master', container: 'xgboost' },
  PaddleJob: { leader: 'Master', container: 'paddle' },
  JAXJob: { container: 'jax' },
};

export interface GangShape {
  /** Beside the pod that leads, which asks for one core. @default 1 */
  readonly workers?: number;
  /** Of each worker. @default 1 */
  readonly cores?: number;
  /** How long a pod runs. @default - until the test ends it */
  readonly runs?: string;
  readonly metadata?: object;
}

export function kindOf(name: string): WorkloadKind {
  const found = WORKLOAD_KINDS.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(`no workload kind ${name}`);
  return found;
}

/** Without a pod that leads, the first worker does, with the cores of the others. */
export function gang(kind: WorkloadKind, name: string, shape: GangShape = {}): KubeObject {
  const { workers = 1, cores = 1, runs = UNTIL_ENDED, metadata = {} } = shape;
  const names = REPLICA_SPECS[kind.kind];
  if (names === undefined)
    return jobSet(
      name,
      { driver: { runs }, workers: { pods: workers, cores, runs } },
      { metadata },
    ) as unknown as KubeObject;
  const { leader, container } = names;
  const replicas = (count: number, cpu: number) => ({
    replicas: count,
    restartPolicy: 'Never',
    template: {
      metadata: { annotations: { 'fluxqueue.test/duration': runs } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: container, image: 'none', resources: { requests: { cpu: `${cpu}` } } }],
      },
    },
  });
  const sets =
    leader === undefined
      ? { Worker: replicas(workers + 1, cores) }
      : { [leader]: replicas(1, 1), Worker: replicas(workers, cores) };
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name, ...metadata } };
  return withField(object, kind.podSets.in, sets) as KubeObject;
}
