/** Pods that keep Pod Security restricted, and pods that do not. */

export interface PodParts {
  readonly spec?: object;
  readonly container?: object;
  readonly context?: object;
}

/** A pod without any violation, except for what is replaced in it. */
export function RESTRICTED_POD({ spec, container, context }: PodParts = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'app', namespace: 'restricted' },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'app',
          image: 'registry.example.org/app:1',
          resources: { requests: { cpu: '1', memory: '1Gi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            ...context,
          },
          ...container,
        },
      ],
      ...spec,
    },
  };
}

/** One violation each, with the path that a rule names. */
export const BAD_PODS: Readonly<Record<string, [parts: PodParts, path: string]>> = {
  hostNetwork: [{ spec: { hostNetwork: true } }, 'hostNetwork'],
  hostPID: [{ spec: { hostPID: true } }, 'hostPID'],
  hostIPC: [{ spec: { hostIPC: true } }, 'hostIPC'],
  'a hostPath': [{ spec: { volumes: [{ name: 'a', hostPath: { path: '/' } }] } }, 'volumes[0]'],
  'an NFS volume': [{ spec: { volumes: [{ name: 'a', nfs: { server: 'a', path: '/' } }] } }, 'volumes[0]'],
  'an unsafe sysctl': [
    {
      spec: {
        securityContext: {
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
          sysctls: [{ name: 'kernel.msgmax', value: '1' }],
        },
      },
    },
    'securityContext.sysctls[0]',
  ],
  'no runAsNonRoot': [
    { spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } } },
    'containers[0].securityContext.runAsNonRoot',
  ],
  'no seccomp profile': [
    { spec: { securityContext: { runAsNonRoot: true } } },
    'containers[0].securityContext.seccompProfile',
  ],
  'the user root': [{ context: { runAsUser: 0 } }, 'containers[0].securityContext.runAsUser'],
  'runAsNonRoot: false': [{ context: { runAsNonRoot: false } }, 'containers[0].securityContext.runAsNonRoot'],
  'privilege escalation': [
    { context: { allowPrivilegeEscalation: undefined } },
    'containers[0].securityContext.allowPrivilegeEscalation',
  ],
  'kept capabilities': [
    { context: { capabilities: { drop: ['NET_RAW'] } } },
    'containers[0].securityContext.capabilities.drop',
  ],
  'added capabilities': [
    { context: { capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } } },
    'containers[0].securityContext.capabilities.add[0]',
  ],
  'an unconfined seccomp profile': [
    { context: { seccompProfile: { type: 'Unconfined' } } },
    'containers[0].securityContext.seccompProfile.type',
  ],
  'an unconfined AppArmor profile': [
    { context: { appArmorProfile: { type: 'Unconfined' } } },
    'containers[0].securityContext.appArmorProfile.type',
  ],
  'another SELinux type': [
    { context: { seLinuxOptions: { type: 'spc_t' } } },
    'containers[0].securityContext.seLinuxOptions.type',
  ],
  'an SELinux user': [
    { context: { seLinuxOptions: { user: 'system_u' } } },
    'containers[0].securityContext.seLinuxOptions.user',
  ],
  'a host port': [
    { container: { ports: [{ containerPort: 80, hostPort: 80 }] } },
    'containers[0].ports[0].hostPort',
  ],
  'a probe of another host': [
    { container: { livenessProbe: { httpGet: { host: '169.254.169.254', port: 80, path: '/' } } } },
    'containers[0].livenessProbe.httpGet.host',
  ],
};
