/** Which prop sets a field of the resource, so that the construct reports a mistake where its user made it. */

/** Path of a field -> path of its prop, where the two differ. */
const CLUSTER_PROPS: Readonly<Record<string, string>> = {
  'archive.path': 'archivePath',
  backoffLimit: 'job.backoffLimit',
  deadlineSeconds: 'job.deadline',
  exclusive: 'scheduling.exclusive',
  'flux.arch': 'scheduling.arch',
  'flux.container': 'flux.view',
  'flux.container.disable': 'flux.inImage',
  'flux.container.mountPath': 'flux.mountPath',
  'flux.curveCertSecret': 'certificate',
  'flux.disableSocket': 'flux.socket',
  'flux.logLevel': 'logging.level',
  'flux.minimalService': 'network.minimalService',
  'flux.noWaitSocket': 'flux.waitSocket',
  'flux.scheduler.matchPolicy': 'flux.matchPolicy',
  'flux.scheduler.queuePolicy': 'flux.queuePolicy',
  'flux.scheduler.simple': 'flux.simpleScheduler',
  jobLabels: 'job.labels',
  'network.disableAffinity': 'scheduling.affinity',
  'pod.dnsPolicy': 'network.dnsPolicy',
  'pod.hostIPC': 'pod.hostIpc',
  'pod.hostNetwork': 'network.hostNetwork',
  'pod.hostPID': 'pod.hostPid',
  'pod.nodeAffinity': 'scheduling.nodeAffinity',
  'pod.nodeSelector': 'scheduling.nodeSelector',
  'pod.priorityClassName': 'scheduling.priorityClassName',
  'pod.schedulerName': 'scheduling.schedulerName',
  'pod.serviceAccountName': 'pod.serviceAccount',
  'pod.terminationGracePeriodSeconds': 'pod.terminationGracePeriod',
  'pod.tolerations': 'scheduling.tolerations',
  'pod.topologySpread': 'scheduling.topologySpread',
  podFailurePolicy: 'job.podFailurePolicy',
  priority: 'scheduling.priority',
  shareProcessNamespace: 'pod.shareProcessNamespace',
  ttlSecondsAfterFinished: 'job.ttlAfterFinished',
};

/** The same within a container, as rules of which the first that matches is applied. */
const CONTAINER_PROPS: readonly (readonly [RegExp, string])[] = [
  [/\.commands\./, '.'],
  [/\.lifeCycle\.postStartExec/, '.postStart'],
  [/\.lifeCycle\.preStopExec/, '.preStop'],
  [/\.resources\.requests\.(cpu|memory)$/, '.$1'],
  [/\.resources\.limits\.(cpu|memory)$/, '.$1Limit'],
  [/\.resources\.(requests|limits)/, '.devices'],
  [/\.resources\.claims(\[\d+\])\.name$/, '.claims$1'],
  [/\.configMapRef\.name$/, '.configMap'],
  [/\.secretRef\.name$/, '.secret'],
  [/(\.secrets\..+)\.name$/, '$1.secret'],
];

/** Path of the prop for the path of a field, which begins with `spec` or `metadata`. */
export function propPath(path: string): string {
  const [, list, index, rest = ''] = /^spec\.(containers|services)\[(\d+)\](.*)$/.exec(path) ?? [];
  if (list === 'services') return `services[${index}]${containerProp(rest)}`;
  if (list === 'containers')
    return `${index === '0' ? 'container' : `sidecars[${Number(index) - 1}]`}${containerProp(rest)}`;
  // Rules over the whole resource, e.g. the size of its ConfigMaps.
  if (path === 'spec') return 'props';
  const field = path.replace(/^(spec|metadata)\./, '');
  return renamed(field.startsWith('flux.container.resources') ? containerProp(field) : field);
}

function containerProp(path: string): string {
  const [pattern, prop] = CONTAINER_PROPS.find(([each]) => each.test(path)) ?? [];
  return pattern === undefined ? path : path.replace(pattern, prop!);
}

/** Replaces the longest beginning of the path that has another name as a prop. */
function renamed(field: string): string {
  for (let end = field.length; end > 0; end = lastSeparator(field, end)) {
    const prop = CLUSTER_PROPS[field.slice(0, end)];
    if (prop !== undefined) return `${prop}${field.slice(end)}`;
  }
  return field;
}

function lastSeparator(path: string, end: number): number {
  return Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1));
}
