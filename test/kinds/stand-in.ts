/** Definitions of the workload kinds with any fields, for tests of admission, which need no controller of the kind. */
import { LEADER_WORKER_SET } from '../../constructs/api/leader-worker-set';
import { makerKinds, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { KubeObject } from '../cluster/api';
import type { Cluster } from '../cluster/cluster';
import { waitFor } from '../cluster/wait';

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const KINDS = [...WORKLOAD_KINDS, ...makerKinds(), LEADER_WORKER_SET];
const STAND_INS: readonly KubeObject[] = KINDS.map(({ kind, group, version, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: {
          status: {},
          // Those of the kinds lead to the workers; here every object has one.
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
}));

/** Resolves when the apiserver takes objects of all kinds. It knows a new kind in mutating policies up to 30 s later than else. */
export async function applyStandIns(cluster: Cluster, namespace: string): Promise<void> {
  await cluster.apply(STAND_INS);
  for (const each of KINDS) {
    const { group, version, kind } = each;
    const probe = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'probe' }, spec: {} };
    await waitFor(`${kind} to be admitted in ${namespace}`, async () => {
      const path = `${kindPath(each)(namespace)}?dryRun=All`;
      const { status, text } = await cluster.api.send('POST', path, probe);
      // Of what lasts, the error says what it is.
      if (status !== 201) throw new Error(text);
      return true;
    });
  }
}
