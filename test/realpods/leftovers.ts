/** Finds objects that the removal of the stack has left in the cluster. */
import type { ApiClient, KubeObject } from '../cluster/api';
import { TEAM } from './load';

/** Every cluster-scoped resource that the stack creates. */
const CLUSTER_WIDE = [
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
  '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];

/** Returns one sentence per object that is left. */
export async function leftovers(api: ApiClient): Promise<string[]> {
  const problems: string[] = [];
  for (const path of CLUSTER_WIDE) {
    for (const { metadata } of await list(
      api,
      `${path}?labelSelector=app.kubernetes.io%2Fpart-of%3Dfluxqueue`,
    )) {
      problems.push(`${path.replace(/.*\//, '')}/${metadata.name} is left`);
    }
  }
  for (const { metadata, spec } of await list(api, `/apis/batch/v1/namespaces/${TEAM}/jobs`)) {
    if ((spec as { suspend?: boolean }).suspend) problems.push(`Job ${metadata.name} is left suspended`);
    problems.push(...foreignFinalizers('Job', metadata));
  }
  for (const { metadata, spec } of await list(api, `/api/v1/namespaces/${TEAM}/pods`)) {
    const { schedulingGates = [] } = spec as { schedulingGates?: unknown[] };
    if (schedulingGates.length > 0) problems.push(`pod ${metadata.name} is left gated`);
    problems.push(...foreignFinalizers('pod', metadata));
  }
  return problems;
}

async function list(api: ApiClient, path: string): Promise<KubeObject[]> {
  const { status, text } = await api.send('GET', path);
  // This version of Kubernetes may not have the resource.
  if (status === 404) return [];
  return (JSON.parse(text) as { items: KubeObject[] }).items;
}

function foreignFinalizers(kind: string, { name, finalizers = [] }: KubeObject['metadata']): string[] {
  return (finalizers as string[])
    .filter((finalizer) => !finalizer.startsWith('batch.kubernetes.io/'))
    .map((finalizer) => `${kind} ${name} has the finalizer ${finalizer}`);
}
