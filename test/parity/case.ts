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

/** A change of one object, once what came before is there. */
export interface Step {
  readonly patch: readonly [apiVersion: string, resource: string, name: string, body: object];
  /** What comes of it in the plain namespace. */
  readonly expected: Partial<Outcome>;
  /** Labels that the pods have beside `app`. @default - all pods of the workload count */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Case {
  /** Name of the workload; its pods have it as the label `app`. */
  readonly name: string;
  /** @param unique a prefix for the names of objects without a namespace */
  manifests(unique: string): readonly KubeObject[];
  /** Objects that concern all pods of their namespace, so that the workload has one of its own in both places. @default - none */
  before?(namespace: string): readonly KubeObject[];
  /** @default - nothing is changed */
  readonly steps?: readonly Step[];
  /** Adds a node with this taint `key=value:NoSchedule` to the four nodes of every case. @default - no taint */
  readonly tainted?: { readonly key: string; readonly value: string };
  /**
   * What comes of it in the plain namespace. Pods that are left out are none. Nodes or zones are left out where no field
   * of the manifest asks for them: there kube-scheduler and the queue may choose differently.
   */
  readonly expected: Partial<Outcome>;
  /** Why other fields of the outcome, or of the last step, differ in the opted-in namespace. @default - none may */
  readonly explained?: Partial<Record<keyof Outcome, string>>;
}
