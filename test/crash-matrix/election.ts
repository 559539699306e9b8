/** The requests of a leader election under names that tell them apart: writes of a Lease differ only in their body. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Lease } from '../../runtime/kubernetes/types';
import { FENCE_ANNOTATION } from '../../runtime/leader/lease';
import type { PortCall } from '../stack/term-ports';
import type { CallName } from './fault-points';

type Make = (call: PortCall) => Promise<unknown>;

/** The client of one elector, which makes no other request. @param make makes each call */
export function electionClient(client: KubernetesClient, make: Make): KubernetesClient {
  let known: Lease | undefined;
  const send = async <T>(method: string, name: CallName, effect: () => Promise<T>): Promise<T> => {
    const answer = (await make({ port: 'client', method, name, effect })) as T;
    known = answer as Lease;
    return answer;
  };
  const requests: Pick<KubernetesClient, 'get' | 'create' | 'update'> = {
    get: <T>(...args: Parameters<KubernetesClient['get']>) =>
      send('get', 'lease.read', () => client.get<T>(...args)),
    create: <T>(...args: Parameters<KubernetesClient['create']>) =>
      send('create', 'lease.create', () => client.create<T>(...args)),
    update: <T>(...args: Parameters<KubernetesClient['update']>) =>
      send('update', writeOf(args[1] as Lease, known), () => client.update<T>(...args)),
  };
  return requests as KubernetesClient;
}

function writeOf(lease: Lease, known: Lease | undefined): CallName {
  const holder = lease.spec?.holderIdentity;
  if (holder === '') return 'lease.release';
  if (holder !== known?.spec?.holderIdentity) return 'lease.take';
  return fenceOf(lease) === undefined || fenceOf(lease) === fenceOf(known) ? 'lease.renew' : 'lease.fence';
}

function fenceOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.annotations?.[FENCE_ANNOTATION];
}
