/** A policy of the cluster that adds a container of one core to each new pod of a namespace, as service meshes do. */
import type { KubeObject } from '../cluster/api';

const SIDECAR =
  'Object.spec.containers{name: "sidecar", image: "none", resources: Object.spec.containers.resources{requests: {"cpu": "1"}}}';

export const NEW_PODS = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };

/** @param more of the policy's spec */
export function sidecarPolicy(namespace: string, more: object = {}): readonly KubeObject[] {
  const name = `sidecars-${namespace}`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [NEW_PODS],
        },
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: `[JSONPatch{op: "add", path: "/spec/containers/-", value: ${SIDECAR}}]`,
            },
          },
        ],
        ...more,
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name },
    },
  ];
}
