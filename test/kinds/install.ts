/** What a controller of workload kinds needs in a cluster before it starts: its kinds, its account and its rights. */
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { Cluster, KubeObject } from '../cluster/cluster';
import type { OwnedProcess } from '../cluster/processes';
import { waitFor } from '../cluster/wait';
import { manifestsOf } from './go-module';

interface ControllerOfKinds {
  readonly kinds: readonly Parameters<typeof kindPath>[0][];
  /** Its Go module with the version. */
  readonly module: string;
  /** Files of the module. */
  readonly crds: readonly string[];
  readonly role: string;
  readonly namespace: string;
  readonly account: string;
}

/** @returns the kubeconfig of its account, once the apiserver has the kinds */
export async function installController(
  cluster: Cluster,
  { kinds, module, crds, role, namespace, account }: ControllerOfKinds,
): Promise<string> {
  const [rights, ...definitions] = manifestsOf(module, role, ...crds);
  const metadata = { name: account, namespace };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...definitions,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { ...rights!, metadata: { name: account } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    } as KubeObject,
  ]);
  for (const kind of kinds)
    await waitFor(`the kind ${kind.plural}`, async () => {
      const { status } = await cluster.api.send('GET', kindPath(kind)());
      return status === 200;
    });
  return cluster.kubeconfigForServiceAccount(account, namespace);
}

/**
 * Starts a controller and waits until it answers, and starts it again when it ends before, as a kubelet does: the apiserver
 * serves a new kind before its discovery lists it, and some controllers end where it does not.
 *
 * @param name of the process, for messages
 * @param url of its probe of readiness
 */
export async function startUntilReady(
  name: string,
  url: string,
  start: () => Promise<OwnedProcess>,
): Promise<void> {
  let running = await start();
  await waitFor(
    `${name} to be ready`,
    async () => {
      if (!running.running) running = await start();
      const reply = await fetch(url).catch(() => undefined);
      if (reply?.status !== 200) throw new Error(running.logTail());
      return true;
    },
    { everyMs: 250 },
  );
}
