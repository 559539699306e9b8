/** The Lease of the leader election, and the fence that is kept on it. */
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { leases } from '../kubernetes/paths';
import type { Lease, LeaseSpec } from '../kubernetes/types';

/** Annotation of the Lease: the fence of its holder, once the holder leads. */
export const FENCE_ANNOTATION = 'fluxqueue/fence';
/**
 * Annotation of the Lease: the highest fence that it ever had. A database that was restored from a backup has forgotten
 * the latest fences, and a leader with one of them again would not outdate the process that still has it.
 * @internal exported for tests
 */
export const LAST_FENCE_ANNOTATION = 'fluxqueue/last-fence';

export interface LeaseRecordOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  readonly name: string;
  /** Milliseconds that one request may take. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** The Lease as last read or written. Every write carries the resourceVersion of that state. */
export class LeaseRecord {
  readonly #options: LeaseRecordOptions;
  readonly #path: string;
  #lease: Lease | undefined;
  #seenAt = 0;

  constructor(options: LeaseRecordOptions) {
    this.#options = options;
    this.#path = leases(options.namespace, options.name);
  }

  get spec(): LeaseSpec | undefined {
    return this.#lease?.spec;
  }

  /** Undefined if nobody holds the Lease. */
  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity || undefined;
  }

  /** Milliseconds since this version of the Lease was seen first, by the local clock. */
  get age(): number {
    return this.#options.clock.now() - this.#seenAt;
  }

  /** The highest fence on the Lease; 0 if there is none. */
  get lastFence(): number {
    return lastFence(this.#lease);
  }

  /** A Lease that does not exist is a valid state. */
  async read(): Promise<void> {
    this.#see(await this.#get());
  }

  /**
   * Writes the spec, and this fence or none, onto the state that was read last.
   * @returns false if the Lease has changed since
   */
  async write(spec: LeaseSpec, fence: number | undefined): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    const known = this.#lease;
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...(known?.metadata ?? { name, namespace }), annotations: annotationsWith(known, fence) },
      spec,
    };
    try {
      const lease =
        known === undefined
          ? await client.create<Lease>(leases(namespace), body, this.#request())
          : await client.update<Lease>(this.#path, body, this.#request());
      this.#see(lease);
      return true;
    } catch (error) {
      if (isStatus(error, 409) || isStatus(error, 404)) return false;
      throw error;
    }
  }

  async #get(): Promise<Lease | undefined> {
    try {
      return await this.#options.client.get<Lease>(this.#path, this.#request());
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** Only a change is a sign of life, and only the local clock measures its age. */
  #see(lease: Lease | undefined): void {
    if (lease?.metadata.resourceVersion === this.#lease?.metadata.resourceVersion && lease !== undefined)
      return;
    this.#lease = lease;
    this.#seenAt = this.#options.clock.now();
  }

  /** One attempt: the elector's next period is the retry. */
  #request() {
    return { priority: 'urgent', retries: 0, timeout: this.#options.timeout } as const;
  }
}

/** Other annotations are kept. The fence of an earlier holder is removed, so that it does not look like the new one's. */
function annotationsWith(lease: Lease | undefined, fence: number | undefined): Record<string, string> {
  const { [FENCE_ANNOTATION]: _, ...others } = lease?.metadata.annotations ?? {};
  const last = Math.max(lastFence(lease), fence ?? 0);
  return {
    ...others,
    ...(last === 0 ? {} : { [LAST_FENCE_ANNOTATION]: `${last}` }),
    ...(fence === undefined ? {} : { [FENCE_ANNOTATION]: `${fence}` }),
  };
}

/** A value that is not a number, or leaves no room for a higher one, is ignored: anybody can edit an annotation. */
function lastFence(lease: Lease | undefined): number {
  const { [FENCE_ANNOTATION]: fence, [LAST_FENCE_ANNOTATION]: last } = lease?.metadata.annotations ?? {};
  const known = [fence, last]
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number > 0 && number < 2 ** 52);
  return Math.max(0, ...known);
}

/** The time format of a Lease: RFC 3339 with six decimals. */
export function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
