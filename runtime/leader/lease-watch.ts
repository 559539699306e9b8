/**
 * Watches the Lease while another replica holds it. So a candidate sees at once that it was released or deleted, and when
 * it was renewed last, from which its expiry counts. It is a hint: the candidate reads the Lease before it takes it, and
 * polls it as well.
 */
import type { Time } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { leases } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { Lease } from '../kubernetes/types';
import type { Logger } from '../observability/log';

export interface LeaseWatchOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  readonly name: string;
  /** The Lease was changed, created or deleted. */
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly time: Time;
}

/** Milliseconds. The polls of the elector go on, so an apiserver in trouble is not asked often. */
const BACKOFF = { first: 1_000, most: 30_000 };

/** The watch, to start and to stop. Its rights are for this name only, which the selector has to say. */
export function leaseWatch({ client, namespace, name, onChange, logger, time }: LeaseWatchOptions) {
  return new Reflector<Lease>({
    client,
    path: leases(namespace),
    fieldSelector: `metadata.name=${name}`,
    onChange: () => onChange(),
    backoff: BACKOFF,
    logger,
    clock: time.clock,
    random: time.random,
  });
}
