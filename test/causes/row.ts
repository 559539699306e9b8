/**
 * A row is one cause for which a workload of an opted-in namespace might not run: its nodes, what is done to the cluster,
 * and what must come of it.
 */
import type { FluxSetupSpecJson } from '../../runtime/kubernetes/custom-resources';
import type { NodeShape } from '../cluster/nodes';
import type { RowCluster } from './row-cluster';

export interface Row {
  /** What happens, as a full statement. */
  readonly name: string;
  /**
   * The part of issue 14 that this row waits for, and what happens today. The runner asserts that an open row fails, so
   * the change that cures it must remove this field.
   *
   * @default - the row holds
   */
  readonly open?: string;
  /** The nodes of the row, which only its pods use. @default - 3 nodes of 4 cores and 16Gi */
  readonly nodes?: readonly NodeShape[];
  /** The queue of the row's namespace. @default - policy easy, requeued workloads are tried again after 1 s */
  readonly queue?: FluxSetupSpecJson;
  /** Labels of the row's namespace. @default - the opt-in */
  readonly labels?: Readonly<Record<string, string>>;
  /** Does everything and asserts everything. The row's namespace is deleted afterwards. */
  run(cluster: RowCluster): Promise<void>;
}

export const DEFAULT_NODES: readonly NodeShape[] = Array(3).fill({ cpu: '4', memory: '16Gi' });

/** `count` equal nodes. */
export const nodes = (count: number, shape: NodeShape = {}): readonly NodeShape[] =>
  Array(count).fill({ cpu: '4', memory: '16Gi', ...shape });
