/** A resource of the read API, as the server offers it and as an answer is made. */

/** Who asks, as the apiserver has authenticated it. */
export interface Reader {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A request that is authenticated and authorized. */
export interface ReadRequest {
  readonly reader: Reader;
  /** @default - all namespaces, or a resource without namespaces */
  readonly namespace?: string;
  readonly name?: string;
  readonly query: URLSearchParams;
  /** Of `create`: the object that was sent, parsed, otherwise unchecked. */
  readonly body?: unknown;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type ReadVerb = 'get' | 'list' | 'create';

export interface ReadResource {
  /** Plural, as in the URL. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly ReadVerb[];
  /** @throws FluxqError for a request that has no answer; the server makes a Status of it */
  answer(request: ReadRequest): Promise<object>;
}
