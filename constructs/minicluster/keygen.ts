/**
 * A Job that creates the certificate, for clusters without the fluxqueue controller. The Secret is created empty and
 * the Job may update only that one, because the right to create cannot be bound to a name. The pods of the brokers
 * start when the Secret has its key.
 */
import { DEFAULT_IMAGES, roleCommand } from '../images';
import type { ClusterContext } from './context';
import { LazyManifest } from './manifest';
import { objectMetadata } from './object-metadata';
import type { KeygenOptions } from './resource';

const RBAC = 'rbac.authorization.k8s.io';
/** The runtime works under any user; minimal images call this one nonroot. */
const USER = 65532;

export function keygenManifests(context: ClusterContext, options: KeygenOptions): LazyManifest[] {
  const { names } = context;
  const metadata = objectMetadata(context, names.keygen);
  return [
    new LazyManifest('v1', 'Secret', { ...metadata, name: names.certificate }, () => ({ type: 'Opaque' })),
    new LazyManifest('v1', 'ServiceAccount', metadata, () => ({ automountServiceAccountToken: false })),
    new LazyManifest(`${RBAC}/v1`, 'Role', metadata, () => ({
      rules: [
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: [names.certificate],
          verbs: ['get', 'update', 'patch'],
        },
      ],
    })),
    new LazyManifest(`${RBAC}/v1`, 'RoleBinding', metadata, () => ({
      roleRef: { apiGroup: RBAC, kind: 'Role', name: names.keygen },
      subjects: [{ kind: 'ServiceAccount', name: names.keygen }],
    })),
    new LazyManifest('batch/v1', 'Job', metadata, () => ({
      spec: {
        backoffLimit: 6,
        template: {
          metadata: { labels: { 'app.kubernetes.io/name': names.keygen } },
          spec: keygenPod(context, options),
        },
      },
    })),
  ];
}

function keygenPod(
  { resource, names }: ClusterContext,
  { image = DEFAULT_IMAGES.runtime }: KeygenOptions,
): Record<string, unknown> {
  return {
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
  };
}
