import { KubernetesVersion } from '../../../constructs/fluxqueue/kubernetes-version';
import { LARGEST_STACK, stackObjects } from '../manifests';

/**
 * The first minor version of Kubernetes that serves an API: `APILifecycleIntroduced` of k8s.io/api v0.37.1 and
 * k8s.io/apiextensions-apiserver v0.37.1 (zz_generated.prerelease-lifecycle.go).
 */
const INTRODUCED: Readonly<Record<string, number>> = {
  'v1 Namespace': 0,
  'v1 PersistentVolumeClaim': 0,
  'v1 Secret': 0,
  'v1 Service': 0,
  'v1 ServiceAccount': 0,
  'v1 ConfigMap': 2,
  'networking.k8s.io/v1 NetworkPolicy': 7,
  'rbac.authorization.k8s.io/v1 ClusterRole': 8,
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': 8,
  'rbac.authorization.k8s.io/v1 Role': 8,
  'rbac.authorization.k8s.io/v1 RoleBinding': 8,
  'apps/v1 Deployment': 9,
  'apiregistration.k8s.io/v1 APIService': 10,
  'apps/v1 StatefulSet': 9,
  'scheduling.k8s.io/v1 PriorityClass': 14,
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': 16,
  'apiextensions.k8s.io/v1 CustomResourceDefinition': 16,
  'policy/v1 PodDisruptionBudget': 21,
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': 29,
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': 30,
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding': 30,
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy': 36,
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding': 36,
};

/** Libraries of CEL in pkg/cel/environment of k8s.io/apiserver v0.37.1; new expressions may use those of the version before. */
const LIBRARIES: [pattern: RegExp, usable: number][] = [
  [/\bauthorizer\./, 28],
  [/\bquantity\(|\.\?|\boptional\./, 29],
  [/\bstrings\.quote\(/, 30],
  [/\bsets\./, 30],
  [/\bisIP\(|\bip\(|\bcidr\(/, 31],
  [/\bformat\./, 32],
  [/fieldSelector\(|labelSelector\(/, 32],
  [/\btransform(List|Map|MapEntry)\(|\.(all|exists)\(\w+, \w+,/, 33],
  [/\bsemver\(/, 34],
  [/\.(flatten|distinct|sortBy)\(|\blists\.range\(/, 35],
];

function newest(kubernetesVersion: string): [version: number, because: string] {
  const props = { ...LARGEST_STACK, kubernetesVersion };
  const needs = stackObjects(props).flatMap((object): [number, string][] => {
    const kind = `${object.apiVersion} ${object.kind}`;
    const since = INTRODUCED[kind];
    if (since === undefined) throw new Error(`${kind}: look up its history`);
    const text = /Policy|Webhook/.test(kind) ? JSON.stringify(object) : '';
    const libraries = LIBRARIES.filter(([pattern]) => pattern.test(text));
    return [
      [since, kind],
      ...libraries.map(([pattern, usable]): [number, string] => [usable, String(pattern)]),
    ];
  });
  return needs.reduce((most, each) => (each[0] > most[0] ? each : most));
}

test('the minimum version serves every object and every expression of its stack', () => {
  expect(newest('1.30')).toEqual([30, expect.stringContaining('ValidatingAdmissionPolicy')]);
});

test('policies that mutate are part of the stack from the first version that serves them', () => {
  expect(newest('1.35')[0]).toBeLessThanOrEqual(35);
  expect(newest('1.36')).toEqual([36, expect.stringContaining('MutatingAdmissionPolicy')]);
});

test.each([
  ['1.37', '1.37.0'],
  ['v1.36.1', '1.36.1'],
  ['v1.36.1-eks-abc', '1.36.1'],
  ['v1.36.1-eks-a1b2c3d', '1.36.1'],
  ['1.36.2-gke.100', '1.36.2'],
  ['v1.36.0+k3s1', '1.36.0'],
  ['v1.36.3+rke2r1', '1.36.3'],
  ['v1.35.0+vmware.1-fips', '1.35.0'],
  ['1.36+', '1.36.0'],
])('%s is %s', (text, version) => {
  expect(String(KubernetesVersion.parse(text))).toBe(version);
});

test.each([
  ['1.29.14', 'is older than 1.30'],
  ['v1.28.9-eks-036c24b', 'upgrade the cluster to 1.30 or newer'],
  ['1.37.0-rc.1', 'is a pre-release'],
  ['2.0', 'is not a Kubernetes version'],
  ['1.36.1 eks', 'is not a Kubernetes version'],
  ['1.36.1.2', 'is not a Kubernetes version'],
])('%s is refused', (text, problem) => {
  expect(() => KubernetesVersion.parse(text)).toThrow(problem);
});
