/** A controller that leads and is no pod of the stack: it runs on when the Deployments are gone. */
import { CONTROLLER_LEASE } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import { leases, pods } from '../kubernetes/paths';
import type { Lease, Pod } from '../kubernetes/types';
import { hostOf, isRenewed } from '../leader/renewal';
import { PODS_OF_THE_STACK } from './doctor/cluster-reader';

/**
 * It takes what it did not release itself for a mistake: it suspends each Job of which `uninstall` releases a pod, with all
 * pods of it that run.
 * @throws FluxqError FLUXQ_CONTROLLER_RUNS while such a controller renews the Lease
 */
export async function refuseOutsideController(
  client: Pick<KubernetesClient, 'get' | 'list' | 'watch'>,
  namespace: string,
): Promise<void> {
  const lease = await ifFound(client.get<Lease>(leases(namespace, CONTROLLER_LEASE)));
  const holder = lease?.spec?.holderIdentity ?? '';
  if (lease === undefined || holder === '') return;
  const { items } = await client.list<Pod>(pods(namespace), { labelSelector: PODS_OF_THE_STACK });
  if (items.some(({ metadata: { uid } }) => holder.includes(uid))) return;
  if (!(await isRenewed(client, namespace, lease))) return;
  throw new FluxqError(
    'FLUXQ_CONTROLLER_RUNS',
    `the controller on ${hostOf(lease)} leads and is no pod of namespace ${namespace}: it would suspend again what uninstall starts`,
    { remedy: `stop that controller, then run this command again` },
  );
}
