/** Whether somebody leads, by what the Lease does and no clock of this machine. */
import { CONTROLLER_LEASE } from '../../constructs/api/labels';
import { awaitObject } from '../kubernetes/await-object';
import type { KubernetesClient } from '../kubernetes/client';
import { leases } from '../kubernetes/paths';
import type { Lease } from '../kubernetes/types';

/** Seconds that a holder has to renew the Lease, where the Lease says nothing. */
export const DURATION_SECONDS = 15;

/** Host name of the holder: its identity is that, the UID of its pod and a random UUID (elector.ts). */
export function hostOf({ spec }: Lease): string {
  return spec?.holderIdentity?.split('_')[0] ?? '';
}

/** Whether its holder renews it while this looks, which takes up to the duration of the Lease. */
export async function isRenewed(
  client: Pick<KubernetesClient, 'list' | 'watch'>,
  namespace: string,
  lease: Lease,
): Promise<boolean> {
  const isLater = ({ metadata, spec }: Lease) =>
    spec?.holderIdentity === lease.spec?.holderIdentity &&
    metadata.resourceVersion !== lease.metadata.resourceVersion;
  const { leaseDurationSeconds = DURATION_SECONDS } = lease.spec ?? {};
  const awaited = { name: CONTROLLER_LEASE, seconds: leaseDurationSeconds, isIt: isLater };
  return (await awaitObject<Lease>(client, leases(namespace), awaited)) !== undefined;
}
