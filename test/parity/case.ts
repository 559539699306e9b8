/** One workload that is applied to a plain and to an opted-in namespace, each with nodes of its own. */
import type { KubeObject } from '../cluster/api';

/** What came of a workload. */
export interface Outcome {
  /** Pods that run. */
  readonly running: number;
  /** Pods that have succeeded. */
  readonly succeeded: number;
  /** Pods that have failed. */
  readonly failed: number;
  /** Nodes of all these pods. */
  readonly nodes: number;
  /** Zones of all these pods. */
  readonly zones: number;
}

export interface Case {
  /** Name of the workload; its pods have it as the label `app`. */
  readonly name: string;
  /** @param unique a prefix for the names of objects without a namespace */
  manifests(unique: string): readonly KubeObject[];
  /** Adds a node with this taint `key=value:NoSchedule` to the four nodes of every case. @default - no taint */
  readonly tainted?: { readonly key: string; readonly value: string };
  /**
   * What comes of it in the plain namespace. Pods that are left out are none. Nodes or zones are left out where no field
   * of the manifest asks for them: there kube-scheduler and the queue may choose differently.
   */
  readonly expected: Partial<Outcome>;
  /** Why other fields of the outcome differ in the opted-in namespace. @default - none may */
  readonly explained?: Partial<Record<keyof Outcome, string>>;
}
