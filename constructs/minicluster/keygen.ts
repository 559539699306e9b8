/**
 * For clusters without the runtime: a one-shot Job that makes the certificate.
 * The Secret is created empty and the Job may fill that one and no other,
 * because a right to create can't be bound to a name. Pods wait for its key.
 */
import { DEFAULT_IMAGES, roleCommand } from '../images';
import type { Parts } from './context';
import { objectMetadata } from './object-metadata';
import type { KeygenOptions, ManifestObject } from './resource';

const RBAC = 'rbac.authorization.k8s.io';
/** The runtime runs as any user; this is the one that minimal images call nonroot. */
const USER = 65532;

export function keygen(parts: Parts, options: KeygenOptions): ManifestObject[] {
  const { names } = parts;
  const metadata = objectMetadata(parts, names.keygen);
  const role = {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata,
    rules: [
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: [names.certificate],
        verbs: ['get', 'update', 'patch'],
      },
    ],
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: names.certificate }, type: 'Opaque' },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    role,
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: names.keygen },
      subjects: [{ kind: 'ServiceAccount', name: names.keygen }],
    },
    keygenJob(parts, options),
  ];
}

function keygenJob(parts: Parts, { image = DEFAULT_IMAGES.runtime }: KeygenOptions): ManifestObject {
  const { resource, names } = parts;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: objectMetadata(parts, names.keygen),
    spec: {
      backoffLimit: 6,
      template: {
        metadata: { labels: { 'app.kubernetes.io/name': names.keygen } },
        spec: {
          automountServiceAccountToken: true,
          containers: [
            {
              name: 'keygen',
              image,
              imagePullPolicy: 'IfNotPresent',
              command: roleCommand(
                'keygen',
                ...['--namespace', '$(NAMESPACE)'],
                ...['--secret', names.certificate],
                ...['--cluster', resource.metadata.name],
              ),
              env: [{ name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
              resources: { limits: { memory: '256Mi' }, requests: { cpu: '50m', memory: '128Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
            },
          ],
          enableServiceLinks: false,
          restartPolicy: 'OnFailure',
          securityContext: {
            runAsGroup: USER,
            runAsNonRoot: true,
            runAsUser: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          serviceAccountName: names.keygen,
        },
      },
    },
  };
}
