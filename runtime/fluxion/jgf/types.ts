/** The parts of JGF that flux-sched reads and writes. */
export interface JgfVertex {
  readonly id: string;
  readonly metadata: {
    readonly type: string;
    readonly basename?: string;
    readonly name?: string;
    readonly id?: number;
    readonly uniq_id?: number;
    readonly rank?: number;
    /** 0 up, 1 down. @default 0 */
    readonly status?: number;
    readonly exclusive?: boolean;
    readonly unit?: string;
    readonly size?: number;
    readonly properties?: Readonly<Record<string, string>> | null;
    readonly paths: { readonly containment?: string };
  };
}

export interface JgfEdge {
  readonly source: string;
  readonly target: string;
  readonly metadata?: { readonly subsystem?: string };
}

export interface JgfGraph {
  readonly graph: { readonly nodes: readonly JgfVertex[]; readonly edges: readonly JgfEdge[] };
}

/** A vertex after reading, with the defaults of flux-sched. */
export interface ReadVertex {
  readonly type: string;
  readonly basename: string;
  readonly name: string;
  readonly id: number;
  readonly uniqId: number;
  readonly rank: number;
  readonly up: boolean;
  readonly size: number;
  readonly unit: string;
  readonly properties: readonly string[];
  readonly path: string;
}
