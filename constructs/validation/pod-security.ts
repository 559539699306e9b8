/** Pod Security `restricted`, in the version of Kubernetes 1.37, with the names of its checks (k8s.io/pod-security-admission). */
import { type Place, podContainers } from './manifest';

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
  'net.ipv4.tcp_slow_start_after_idle',
  'net.ipv4.tcp_notsent_lowat',
]);
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

/** Everything for which Pod Security `restricted` refuses a pod. */
export function restrictedProblems(spec: Place): string[] {
  const containers = podContainers(spec);
  const onWindows = spec.field('os.name').value === 'windows';
  return [
    ...podProblems(spec),
    ...contextProblems(spec),
    ...containers.flatMap((container) => [
      ...contextProblems(container),
      ...privilegeProblems(container),
      ...hostProblems(container),
      ...(onWindows ? [] : linuxProblems(container)),
      ...inheritedProblems(container, spec, onWindows),
    ]),
  ];
}

function problem(place: Place, text: string): string {
  return `${place.path}: ${text}`;
}

function podProblems(spec: Place): string[] {
  const host = ['hostNetwork', 'hostPID', 'hostIPC'].map((name) => spec.field(name));
  const sysctls = spec.field('securityContext.sysctls').items();
  return [
    ...host.filter(({ value }) => value === true).map((place) => problem(place, 'must not be true')),
    ...spec
      .field('volumes')
      .items()
      .filter((volume) => !VOLUMES.some((type) => volume.field(type).exists))
      .map((volume) => problem(volume, `must be one of: ${VOLUMES.join(', ')}`)),
    ...sysctls
      .filter((each) => !SYSCTLS.has(String(each.field('name').value)))
      .map((each) => problem(each, 'is not a safe sysctl')),
  ];
}

/** Fields that pods and containers have. */
function contextProblems(holder: Place): string[] {
  const context = holder.field('securityContext');
  const seLinux = context.field('seLinuxOptions');
  const appArmor = context.field('appArmorProfile.type');
  const seccomp = context.field('seccompProfile.type');
  const problems = [
    ...['user', 'role']
      .map((name) => seLinux.field(name))
      .filter(({ value }) => (value ?? '') !== '')
      .map((place) => problem(place, 'must not be set')),
  ];
  if (!SELINUX_TYPES.includes(String(seLinux.field('type').value ?? '')))
    problems.push(
      problem(seLinux.field('type'), 'must be one of container_t, container_init_t, container_kvm_t'),
    );
  if (appArmor.exists && !['RuntimeDefault', 'Localhost'].includes(String(appArmor.value)))
    problems.push(problem(appArmor, 'must be RuntimeDefault or Localhost'));
  if (seccomp.exists && !isSafeSeccomp(seccomp))
    problems.push(problem(seccomp, 'must be RuntimeDefault or Localhost'));
  if (context.field('runAsNonRoot').value === false)
    problems.push(problem(context.field('runAsNonRoot'), 'must be true'));
  if (context.field('runAsUser').value === 0)
    problems.push(problem(context.field('runAsUser'), 'must not be 0'));
  if (context.field('windowsOptions.hostProcess').value === true)
    problems.push(problem(context.field('windowsOptions.hostProcess'), 'must not be true'));
  return problems;
}

function privilegeProblems(container: Place): string[] {
  const context = container.field('securityContext');
  const procMount = context.field('procMount');
  return [
    ...(context.field('privileged').value === true
      ? [problem(context.field('privileged'), 'must not be true')]
      : []),
    ...(procMount.exists && procMount.value !== 'Default' ? [problem(procMount, 'must be Default')] : []),
  ];
}

function linuxProblems(container: Place): string[] {
  const context = container.field('securityContext');
  const escalation = context.field('allowPrivilegeEscalation');
  const { value: drop } = context.field('capabilities.drop');
  const added = context.field('capabilities.add').items();
  return [
    ...(escalation.value === false ? [] : [problem(escalation, 'must be false')]),
    ...(Array.isArray(drop) && drop.includes('ALL')
      ? []
      : [problem(context.field('capabilities.drop'), 'must include ALL')]),
    ...added
      .filter(({ value }) => value !== 'NET_BIND_SERVICE')
      .map((place) => problem(place, 'must be NET_BIND_SERVICE')),
  ];
}

/** Fields that a container inherits from its pod. */
function inheritedProblems(container: Place, spec: Place, onWindows: boolean): string[] {
  const inherited = (name: string) =>
    [container, spec].map((each) => each.field(`securityContext.${name}`)).find(({ exists }) => exists);
  return [
    ...(inherited('runAsNonRoot') === undefined
      ? [problem(container.field('securityContext.runAsNonRoot'), 'must be true, here or in the pod')]
      : []),
    ...(onWindows || inherited('seccompProfile.type') !== undefined
      ? []
      : [problem(container.field('securityContext.seccompProfile'), 'is required, here or in the pod')]),
  ];
}

function isSafeSeccomp({ value }: Place): boolean {
  return value === 'RuntimeDefault' || value === 'Localhost';
}

/** Connections of the kubelet to the node or to other hosts. */
function hostProblems(container: Place): string[] {
  const ports = container.field('ports').items();
  const handlers = [
    ...['livenessProbe', 'readinessProbe', 'startupProbe'],
    ...['lifecycle.postStart', 'lifecycle.preStop'],
  ].flatMap((name) => [container.field(`${name}.httpGet.host`), container.field(`${name}.tcpSocket.host`)]);
  return [
    ...ports
      .map((port) => port.field('hostPort'))
      .filter(({ value }) => (value ?? 0) !== 0)
      .map((place) => problem(place, 'must not be set')),
    ...handlers.filter(({ value }) => (value ?? '') !== '').map((place) => problem(place, 'must not be set')),
  ];
}
