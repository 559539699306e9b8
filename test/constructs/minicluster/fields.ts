/**
 * Every field of MiniCluster v1alpha2: the prop that says the same, what it
 * does, and a value that shows it. fields.test.ts renders each; the table in
 * docs/minicluster-fields.md is made from this file (`npm run generate:fields`).
 */
import { Duration, Size, Testing } from 'cdk8s';
import { ConfigMap, PersistentVolumeClaim, Secret, ServiceAccount } from 'cdk8s-plus-28';
import {
  Certificate,
  type ContainerProps,
  type MiniClusterProps,
  type MiniClusterSpec,
  MiniClusterVolume,
} from '../../../constructs/minicluster';

type Container = MiniClusterSpec['containers'][number];

export interface Field {
  /** From `spec`; `containers[].` stands for services too. */
  readonly path: string;
  readonly prop: string;
  readonly effect: string;
  /** What is set to see it, in the resource and as props. */
  readonly spec?: Partial<MiniClusterSpec>;
  readonly container?: Partial<Container>;
  readonly props?: Partial<MiniClusterProps>;
  readonly containerProps?: Partial<ContainerProps>;
  /** Stands in the manifests (as JSON) then, and not without. */
  readonly shows: string;
  /** Which file has more tests of it. */
  readonly more?: string;
}

const chart = Testing.chart();
const secret = Secret.fromSecretName(chart, 'secret', 'vault');
const configMap = ConfigMap.fromConfigMapName(chart, 'files', 'files');
const claim = PersistentVolumeClaim.fromClaimName(chart, 'claim', 'data');
const account = ServiceAccount.fromServiceAccountName(chart, 'account', 'runner');

const SHELL = 'shell.test.ts';
const BROKER = 'broker-config.test.ts';
const RENDER = 'render.test.ts';

/** A field of the runner under the same name in both. */
const same = (
  name: keyof Container & keyof ContainerProps,
  value: unknown,
  effect: string,
  shows: string,
  more?: string,
): Field => ({
  path: `containers[].${name}`,
  prop: `container.${name}`,
  effect,
  container: { [name]: value },
  containerProps: { [name]: value },
  shows,
  ...(more === undefined ? {} : { more }),
});

const block = (name: string, effect: string): Field => ({
  path: `containers[].commands.${name}`,
  prop: `container.${name}`,
  effect,
  container: { commands: { [name]: 'echo here' } },
  containerProps: { [name]: 'echo here' },
  shows: name === 'prefix' ? 'echo here flux submit' : `runner_${name}.sh`,
  more: SHELL,
});

const volume = (
  name: string,
  effect: string,
  value: object,
  made: MiniClusterVolume,
  shows: string,
): Field => ({
  path: `containers[].volumes{}.${name}`,
  prop: 'container.volumes',
  effect,
  container: { volumes: { vol: value } },
  containerProps: { volumes: { vol: made } },
  shows,
});

/** A field of the cluster under the same name in both. */
const plain = (
  name: keyof MiniClusterSpec & keyof MiniClusterProps,
  value: unknown,
  effect: string,
  shows: string,
  more = RENDER,
): Field => ({
  path: name,
  prop: name,
  effect,
  spec: { [name]: value },
  props: { [name]: value },
  shows,
  more,
});

/** A field of a part of the spec, called the same as prop. */
const part = (
  group: 'network' | 'logging' | 'flux' | 'pod',
  name: string,
  value: unknown,
  effect: string,
  shows: string,
  more?: string,
): Field => ({
  path: `${group}.${name}`,
  prop: name,
  effect,
  spec: { [group]: { [name]: value } },
  props: { [name]: value },
  shows,
  ...(more === undefined ? {} : { more }),
});

const PROBE = { exec: { command: ['ready'] } };

const CONTAINER_FIELDS: readonly Field[] = [
  same('image', 'lammps', 'image of the container', '"image":"lammps"'),
  {
    path: 'containers[].imagePullSecret',
    prop: 'container.imagePullSecret',
    effect: 'imagePullSecrets of the pod, once each',
    container: { imagePullSecret: 'vault' },
    containerProps: { imagePullSecret: secret },
    shows: '"imagePullSecrets":[{"name":"vault"}]',
  },
  same('name', 'main', "name of the container and of a sidecar's files", '"name":"main","image"'),
  same('workingDir', '/work', 'workingDir; jobs start there', '"workingDir":"/work"'),
  same('command', 'hostname -f', 'what the lead submits, starts or batches', 'hostname -f', SHELL),
  same('pullAlways', true, 'imagePullPolicy Always', '"imagePullPolicy":"Always"'),
  same('imagePullPolicy', 'Never', 'imagePullPolicy', '"imagePullPolicy":"Never"'),
  same(
    'ports',
    [5000],
    'containerPort; of sidecars and services a Service NAME-CONTAINER with named ports',
    '"containerPort":5000',
    RENDER,
  ),
  same('environment', { A: 'b' }, 'env, sorted by name', '{"name":"A","value":"b"}'),
  {
    path: 'containers[].secrets',
    prop: 'container.secrets',
    effect: 'env from a key of a Secret',
    container: { secrets: { TOKEN: { name: 'vault', key: 'token' } } },
    containerProps: { secrets: { TOKEN: { secret, key: 'token' } } },
    shows: '{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"vault","key":"token"}}}',
  },
  same(
    'env',
    [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
    'env as in a pod; wins over the others',
    '"fieldPath":"status.hostIP"',
  ),
  {
    path: 'containers[].envFrom',
    prop: 'container.envFrom',
    effect: 'envFrom',
    container: { envFrom: [{ prefix: 'X_', configMapRef: { name: 'files' } }] },
    containerProps: { envFrom: [{ prefix: 'X_', configMap }] },
    shows: '"envFrom":[{"prefix":"X_","configMapRef":{"name":"files"}}]',
  },
  same(
    'launcher',
    true,
    'the lead starts the command itself, beside the broker',
    'set -- \\"$@\\" run\\n',
    SHELL,
  ),
  same('batch', true, 'lines become jobs of one batch job', 'flux submit --flags=waitable', SHELL),
  same('batchRaw', true, 'the command is the batch script', '"runner_batch.sh":"#!/bin/sh\\nrun\\n"', SHELL),
  same('logs', '/out', 'directory for the output of batch jobs, FLUX_OUTPUT_DIR', 'logs=/out', SHELL),
  {
    path: 'containers[].runFlux',
    prop: 'container or sidecars',
    effect: 'which container runs the broker; the others become native sidecars',
    spec: {
      containers: [
        { image: 'app', command: 'run', runFlux: true },
        { image: 'side', name: 'side' },
      ],
    },
    props: { sidecars: [{ image: 'side', name: 'side' }] },
    shows: '"restartPolicy":"Always"',
    more: RENDER,
  },
  {
    path: 'containers[].noWrapEntrypoint',
    prop: 'sidecars[].noWrapEntrypoint',
    effect: 'a sidecar without a command of ours: its image’s entrypoint',
    spec: {
      containers: [
        { image: 'app', command: 'run', runFlux: true },
        { image: 'side', name: 'side', noWrapEntrypoint: true },
      ],
    },
    props: { sidecars: [{ image: 'side', name: 'side', noWrapEntrypoint: true }] },
    shows: '{"name":"side","image":"side","imagePullPolicy":"IfNotPresent","volumeMounts"',
  },
  {
    path: 'containers[].serviceName',
    prop: 'sidecars[].serviceName',
    effect: 'name of the Service of its ports',
    spec: {
      containers: [
        { image: 'app', command: 'run', runFlux: true },
        { image: 'side', name: 'side', ports: [80], serviceName: 'api' },
      ],
    },
    props: { sidecars: [{ image: 'side', name: 'side', ports: [80], serviceName: 'api' }] },
    shows: '"kind":"Service","metadata":{"name":"api"',
  },
  volume(
    'path',
    'mountPath; without a source an empty directory there',
    { path: '/data', emptyDir: true },
    MiniClusterVolume.emptyDir({ path: '/data' }),
    '{"name":"vol","mountPath":"/data"}',
  ),
  volume(
    'readOnly',
    'mounted read-only',
    { path: '/d', claimName: 'data', readOnly: true },
    MiniClusterVolume.fromClaim(claim, '/d', { readOnly: true }),
    '"mountPath":"/d","readOnly":true',
  ),
  volume(
    'subPath',
    'only that path within it',
    { path: '/d', claimName: 'data', subPath: 'a' },
    MiniClusterVolume.fromClaim(claim, '/d', { subPath: 'a' }),
    '"mountPath":"/d","subPath":"a"',
  ),
  volume(
    'claimName',
    'PersistentVolumeClaim',
    { path: '/d', claimName: 'data' },
    MiniClusterVolume.fromClaim(claim, '/d'),
    '"persistentVolumeClaim":{"claimName":"data"}',
  ),
  volume(
    'configMapName',
    'ConfigMap as files',
    { path: '/d', configMapName: 'files' },
    MiniClusterVolume.fromConfigMap(configMap, '/d'),
    '{"name":"vol","configMap":{"name":"files"}}',
  ),
  volume(
    'secretName',
    'Secret as files',
    { path: '/d', secretName: 'vault' },
    MiniClusterVolume.fromSecret(secret, '/d'),
    '{"name":"vol","secret":{"secretName":"vault"}}',
  ),
  volume(
    'items',
    'which keys, under which paths, sorted',
    { path: '/d', configMapName: 'files', items: { k: 'p' } },
    MiniClusterVolume.fromConfigMap(configMap, '/d', { items: { k: 'p' } }),
    '"items":[{"key":"k","path":"p"}]',
  ),
  volume(
    'defaultMode',
    'mode of the files',
    { path: '/d', secretName: 'vault', defaultMode: 256 },
    MiniClusterVolume.fromSecret(secret, '/d', { defaultMode: 0o400 }),
    '"secretName":"vault","defaultMode":256',
  ),
  volume(
    'hostPath',
    'directory of the node, which must be there',
    { path: '/d', hostPath: '/srv' },
    MiniClusterVolume.fromHostPath('/srv', '/d'),
    '"hostPath":{"path":"/srv","type":"Directory"}',
  ),
  volume(
    'hostPathType',
    'what must be there',
    { path: '/d', hostPath: '/srv', hostPathType: 'DirectoryOrCreate' },
    MiniClusterVolume.fromHostPath('/srv', '/d', { type: 'DirectoryOrCreate' }),
    '"type":"DirectoryOrCreate"',
  ),
  volume(
    'emptyDir',
    'empty directory, at /dev/shm if no path is given',
    { emptyDir: true },
    MiniClusterVolume.emptyDir(),
    '{"name":"vol","mountPath":"/dev/shm"}',
  ),
  volume(
    'emptyDirMedium',
    'in memory',
    { emptyDir: true, emptyDirMedium: 'memory' },
    MiniClusterVolume.emptyDir({ inMemory: true }),
    '{"name":"vol","emptyDir":{"medium":"Memory"}}',
  ),
  volume(
    'emptyDirSizeLimit',
    'the most it may hold',
    { emptyDir: true, emptyDirSizeLimit: '64Gi' },
    MiniClusterVolume.emptyDir({ sizeLimit: Size.gibibytes(64) }),
    '"sizeLimit":"64Gi"',
  ),
  volume(
    'csiDriver',
    'inline CSI volume',
    { path: '/d', csiDriver: 'd.io' },
    MiniClusterVolume.fromCsi('d.io', '/d'),
    '"csi":{"driver":"d.io"}',
  ),
  volume(
    'csiDriverAttributes',
    'volumeAttributes',
    { path: '/d', csiDriver: 'd.io', csiDriverAttributes: { a: 'b' } },
    MiniClusterVolume.fromCsi('d.io', '/d', { attributes: { a: 'b' } }),
    '"volumeAttributes":{"a":"b"}',
  ),
  volume(
    'csiDriverFsType',
    'fsType',
    { path: '/d', csiDriver: 'd.io', csiDriverFsType: 'xfs' },
    MiniClusterVolume.fromCsi('d.io', '/d', { fsType: 'xfs' }),
    '"fsType":"xfs"',
  ),
  volume(
    'csiDriverSecretName',
    'nodePublishSecretRef',
    { path: '/d', csiDriver: 'd.io', csiDriverSecretName: 'vault' },
    MiniClusterVolume.fromCsi('d.io', '/d', { secret }),
    '"nodePublishSecretRef":{"name":"vault"}',
  ),
  volume(
    'nfsServer',
    'NFS export: host',
    { path: '/d', nfsServer: 'nas', nfsPath: '/e' },
    MiniClusterVolume.fromNfs('nas', '/e', '/d'),
    '"nfs":{"server":"nas"',
  ),
  volume(
    'nfsPath',
    'NFS export: path',
    { path: '/d', nfsServer: 'nas', nfsPath: '/e' },
    MiniClusterVolume.fromNfs('nas', '/e', '/d'),
    '"path":"/e"',
  ),
  {
    path: 'containers[].lifeCycle.postStartExec',
    prop: 'container.postStart',
    effect: 'postStart, given to a shell',
    container: { lifeCycle: { postStartExec: 'touch "/a b"' } },
    containerProps: { postStart: 'touch "/a b"' },
    shows: '"postStart":{"exec":{"command":["/bin/sh","-c","touch \\"/a b\\""]}}',
  },
  {
    path: 'containers[].lifeCycle.preStopExec',
    prop: 'container.preStop',
    effect: 'preStop, given to a shell',
    container: { lifeCycle: { preStopExec: 'sync' } },
    containerProps: { preStop: 'sync' },
    shows: '"preStop":{"exec":{"command":["/bin/sh","-c","sync"]}}',
  },
  same('livenessProbe', PROBE, 'livenessProbe', '"livenessProbe":{"exec":'),
  same('readinessProbe', PROBE, 'readinessProbe', '"readinessProbe":{"exec":'),
  same('startupProbe', PROBE, 'startupProbe', '"startupProbe":{"exec":'),
  {
    path: 'containers[].resources',
    prop: 'container.cpu, cpuLimit, memory, memoryLimit, devices, claims',
    effect: 'resources; whole CPUs of limit or request are what the brokers offer',
    container: {
      resources: {
        claims: [{ name: 'gpu' }],
        limits: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': 1 },
        requests: { cpu: '2500m', memory: '4Gi', 'nvidia.com/gpu': 1 },
      },
    },
    containerProps: {
      cpu: 2.5,
      cpuLimit: 4,
      memory: Size.gibibytes(4),
      memoryLimit: Size.gibibytes(8),
      devices: { 'nvidia.com/gpu': 1 },
      claims: ['gpu'],
    },
    shows: 'cores = \\"0-3\\"',
    more: BROKER,
  },
  same('securityContext', { privileged: true }, 'securityContext', '"securityContext":{"privileged":true}'),
  block('init', 'shell, first of all'),
  block('pre', 'shell before the broker'),
  block('brokerPre', 'shell before the broker, lead only'),
  block('workerPre', 'shell before the broker, workers only'),
  block('post', 'shell after the broker; the exit code stays the command’s'),
  block('servicePre', 'shell of a sidecar before it waits for Flux'),
  block('prefix', 'words before what the lead starts'),
  {
    path: 'containers[].commands.script',
    prop: 'container.script',
    effect: 'script that every task runs, from a file',
    spec: { containers: [{ image: 'app', commands: { script: 'echo here' } }] },
    props: { container: { image: 'app', script: 'echo here' } },
    shows: 'runner_script.sh',
    more: SHELL,
  },
];

const CLUSTER_FIELDS: readonly Field[] = [
  {
    path: 'services',
    prop: 'services',
    effect:
      'a Deployment NAME-services of one pod, in the headless Service under that name; a Service per container with ports',
    spec: { services: [{ image: 'nginx', name: 'web', ports: [80] }] },
    props: { services: [{ image: 'nginx', name: 'web', ports: [80] }] },
    shows: '"kind":"Deployment","metadata":{"name":"mc-services"',
    more: RENDER,
  },
  plain(
    'size',
    7,
    'completions and parallelism (replicas), hosts, quorum, -N',
    '"completions":7,"parallelism":7',
  ),
  plain('minSize', 2, 'broker.quorum', '-Sbroker.quorum=2'),
  plain('maxSize', 9, 'hosts that are registered, so how far it scales', 'mc-[0-8]'),
  plain('tasks', 8, '-n of the job; 0: -N only', 'flux submit -N 4 -n 8', SHELL),
  {
    ...plain('workload', 'StatefulSet', 'StatefulSet in place of the Job', '"kind":"StatefulSet"'),
    spec: { workload: 'StatefulSet', interactive: true },
    props: { workload: 'StatefulSet', interactive: true },
  },
  plain(
    'interactive',
    true,
    'brokers only (broker.rc2_none), restartPolicy OnFailure, backoffLimit 100',
    '-Sbroker.rc2_none',
    SHELL,
  ),
  plain('suspend', true, 'suspend of the Job', '"suspend":true'),
  plain('queue', 'night', 'label fluxqueue/queue', '"fluxqueue/queue":"night"'),
  plain('priority', 5, 'label fluxqueue/priority; below 0 an annotation', '"fluxqueue/priority":"5"'),
  {
    ...plain(
      'walltime',
      '5400s',
      'label fluxqueue/walltime, and the Job’s deadline if it is earlier',
      '"activeDeadlineSeconds":5400',
    ),
    props: { walltime: Duration.minutes(90) },
  },
  plain('exclusive', true, 'label fluxqueue/exclusive', '"fluxqueue/exclusive":"true"'),
  {
    ...plain('queue', 0, '', ''),
    path: 'deadlineSeconds',
    prop: 'deadline',
    effect: 'activeDeadlineSeconds',
    spec: { deadlineSeconds: 600 },
    props: { deadline: Duration.minutes(10) },
    shows: '"activeDeadlineSeconds":600',
  },
  plain('backoffLimit', 3, 'backoffLimit; 0 is 0', '"backoffLimit":3'),
  {
    path: 'ttlSecondsAfterFinished',
    prop: 'ttlAfterFinished',
    effect: 'ttlSecondsAfterFinished',
    spec: { ttlSecondsAfterFinished: 60 },
    props: { ttlAfterFinished: Duration.minutes(1) },
    shows: '"ttlSecondsAfterFinished":60',
  },
  plain(
    'podFailurePolicy',
    { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
    'podFailurePolicy',
    '"values":[42]',
  ),
  {
    path: 'cleanup',
    prop: 'cleanup (with live)',
    effect: 'the controller deletes the MiniCluster when it is finished; manifests are the same',
    spec: { cleanup: true },
    props: { cleanup: true },
    shows: '',
  },
  plain('jobLabels', { team: 'a' }, 'labels of the Job', '"labels":{"team":"a"'),
  plain('shareProcessNamespace', true, 'shareProcessNamespace', '"shareProcessNamespace":true'),
  {
    path: 'archive.path',
    prop: 'archivePath',
    effect: 'content.restore if it is there; content.dump, moved into place when whole; 120 s to end in',
    spec: { archive: { path: '/data/state' } },
    props: { archivePath: '/data/state' },
    shows: 'archive=/data/state',
    more: SHELL,
  },
  part(
    'network',
    'headlessName',
    'hl',
    'name of the headless Service and the pods’ subdomain',
    '"subdomain":"hl"',
  ),
  {
    ...part(
      'network',
      'disableAffinity',
      true,
      'without the preference for one zone and different nodes; pod.nodeAffinity stays',
      '',
    ),
    prop: 'affinity',
    props: { affinity: false },
  },
  part(
    'network',
    'clusterDomain',
    'k8s.local',
    'DNS domain in default_connect',
    'tcp://%h.mc.lab.svc.k8s.local:%p',
    BROKER,
  ),
  part('network', 'port', 9000, 'port of the brokers', 'default_port = 9000', BROKER),
  part('logging', 'quiet', true, 'log-stderr-level 0, blocks print nothing', 'quiet=yes', SHELL),
  part('logging', 'strict', true, 'a failing line of a block ends the pod', 'strict=yes', SHELL),
  part('logging', 'debug', true, '-vvv when submitting', '-vvv', SHELL),
  part('logging', 'zeromq', true, 'tbon.zmqdebug', '-Stbon.zmqdebug=1', SHELL),
  part('logging', 'timed', true, 'FLUXTIME lines; GNU time is not needed', 'timed=yes', SHELL),
];

const VIEW = 'flux.container';
const view = (
  name: string,
  value: unknown,
  effect: string,
  shows: string,
  prop: Partial<MiniClusterProps>,
  said = `view.${name}`,
): Field => ({
  path: `${VIEW}.${name}`,
  prop: said,
  effect,
  spec: { flux: { container: { [name]: value } } },
  props: prop,
  shows,
});

const FLUX_FIELDS: readonly Field[] = [
  view('disable', true, 'no init container: the image has Flux', '', { fluxInImage: true }, 'fluxInImage'),
  view('image', 'view:1', 'image of the init container', '"image":"view:1"', { view: { image: 'view:1' } }),
  view('imagePullSecret', 'vault', 'imagePullSecrets of the pod', '"imagePullSecrets":[{"name":"vault"}]', {
    view: { imagePullSecret: secret },
  }),
  view('pullAlways', true, 'imagePullPolicy Always', '"imagePullPolicy":"Always"', {
    view: { pullAlways: true },
  }),
  view('name', 'fv', 'name of the init container', '"name":"fv"', { view: { name: 'fv' } }),
  view('workingDir', '/w', 'its workingDir', '"workingDir":"/w"', { view: { workingDir: '/w' } }),
  view(
    'mountPath',
    '/opt/mini',
    'where Flux and its run-time files are, everywhere',
    '"mountPath":"/opt/mini"',
    { mountPath: '/opt/mini' },
    'mountPath',
  ),
  view('pythonPath', '/p', 'PYTHONPATH for Flux from the view', 'python_path=/p', {
    view: { pythonPath: '/p' },
  }),
  view(
    'resources',
    { requests: { cpu: '1' } },
    'resources of the init container',
    '"resources":{"requests":{"cpu":"1"}}',
    { view: { cpu: 1 } },
    'view.cpu, ...',
  ),
  view('securityContext', { runAsUser: 0 }, 'its securityContext', '"securityContext":{"runAsUser":0}', {
    view: { securityContext: { runAsUser: 0 } },
  }),
  part('flux', 'arch', 'arm64', 'nodeSelector kubernetes.io/arch', '"kubernetes.io/arch":"arm64"'),
  part('flux', 'submitCommand', 'flux run', 'what submits the command', 'flux run -n 1 run', SHELL),
  part('flux', 'optionFlags', '-ompi=pmix', 'more options for submitting', '-ompi=pmix', SHELL),
  part('flux', 'wrap', 'strace,-f', 'a command around every broker', 'set -- strace -f flux broker', SHELL),
  {
    ...part(
      'flux',
      'connectTimeout',
      '7000ms',
      'tbon.connect_timeout',
      'connect_timeout = \\"7000ms\\"',
      BROKER,
    ),
    props: { connectTimeout: Duration.seconds(7) },
  },
  part('flux', 'topology', 'binomial', 'tbon.topo', '-Stbon.topo=binomial', SHELL),
  part('flux', 'logLevel', 3, 'log-stderr-level', '-Slog-stderr-level=3'),
  part(
    'flux',
    'minimalService',
    true,
    'the Service has an address and leads to the lead only, whom workers dial by it',
    '"batch.kubernetes.io/job-completion-index":"0"',
    BROKER,
  ),
  { ...part('flux', 'disableSocket', true, 'no local-uri', ''), prop: 'socket', props: { socket: false } },
  {
    ...part('flux', 'noWaitSocket', true, 'sidecars don’t wait for the socket', '', SHELL),
    prop: 'waitSocket',
    props: { waitSocket: false },
  },
  part('flux', 'completeWorkers', true, 'a worker ends with its first broker', 'complete=yes', SHELL),
  {
    path: 'flux.curveCert',
    prop: '- (a Secret, see certificate)',
    effect: 'the controller moves it into the Secret NAME-curve; it is in no manifest',
    spec: { flux: { curveCert: 'text' } },
    shows: '',
    more: RENDER,
  },
  {
    path: 'flux.curveCertSecret',
    prop: 'certificate',
    effect: 'the Secret that is mounted, in place of NAME-curve',
    spec: { flux: { curveCertSecret: 'vault' } },
    props: { certificate: Certificate.fromSecret(secret) },
    shows: '"secretName":"vault"',
    more: RENDER,
  },
  {
    path: 'flux.mungeSecret',
    prop: 'mungeSecret',
    effect: 'mounted at /etc/munge, mode 0400',
    spec: { flux: { mungeSecret: 'vault' } },
    props: { mungeSecret: secret },
    shows: '{"name":"flux-munge","secret":{"secretName":"vault","defaultMode":256}}',
  },
  {
    path: 'flux.scheduler.simple',
    prop: 'simpleScheduler',
    effect: 'sched-simple, and nothing that loads Fluxion',
    spec: { flux: { scheduler: { simple: true } } },
    props: { simpleScheduler: true },
    shows: 'alternatives.sched = \\"sched-simple\\"',
    more: BROKER,
  },
  {
    path: 'flux.scheduler.queuePolicy',
    prop: 'queuePolicy',
    effect: '[sched-fluxion-qmanager] queue-policy',
    spec: { flux: { scheduler: { queuePolicy: 'easy' } } },
    props: { queuePolicy: 'easy' },
    shows: 'queue-policy = \\"easy\\"',
  },
  {
    path: 'flux.scheduler.matchPolicy',
    prop: 'matchPolicy',
    effect: '[sched-fluxion-resource] match-policy',
    spec: { flux: { scheduler: { matchPolicy: 'lonodex' } } },
    props: { matchPolicy: 'lonodex' },
    shows: 'match-policy = \\"lonodex\\"',
  },
  part('flux', 'cores', 3, 'cores in [[resource.config]]', 'cores = \\"0-2\\"', BROKER),
  part('flux', 'cpuAffinity', true, 'tasks are pinned (shell_initrc stays Flux’s)', 'affinity=yes', SHELL),
  {
    path: 'flux.bursting.leadBroker',
    prop: 'bursting.leadBroker',
    effect: 'the other lead first, then its workers, then these hosts; all pods work',
    spec: {
      flux: {
        curveCertSecret: 'vault',
        bursting: { leadBroker: { address: '10.0.0.1', name: 'main', size: 4 } },
      },
    },
    props: {
      certificate: Certificate.fromSecret(secret),
      bursting: { leadBroker: { address: '10.0.0.1', name: 'main', size: 4 } },
    },
    shows: 'connect = \\"tcp://10.0.0.1:8050\\"',
    more: BROKER,
  },
  {
    path: 'flux.bursting.hostlist',
    prop: 'bursting.hostlist',
    effect: 'all hosts, as given',
    spec: { flux: { bursting: { hostlist: 'a,b[1-3]' } } },
    props: { bursting: { hostlist: 'a,b[1-3]' } },
    shows: 'host = \\"a,b[1-3]\\"',
    more: BROKER,
  },
  {
    path: 'flux.bursting.clusters',
    prop: 'bursting.clusters',
    effect: 'hosts that may join, after the cluster’s own',
    spec: { flux: { bursting: { clusters: [{}, { name: 'far', size: 2 }] } } },
    props: { bursting: { clusters: [{}, { name: 'far', size: 2 }] } },
    shows: 'burst-0-[0-3]',
    more: BROKER,
  },
  part(
    'flux',
    'brokerConfig',
    '[bootstrap]\n',
    'broker.toml, as given',
    '"config_broker.toml":"[bootstrap]\\n"',
    BROKER,
  ),
  {
    path: 'flux.environment',
    prop: 'fluxEnvironment',
    effect: 'exports in flux-view.sh, quoted',
    spec: { flux: { environment: { A: "it's" } } },
    props: { fluxEnvironment: { A: "it's" } },
    shows: `export A='it'\\\\''s'`,
    more: SHELL,
  },
];

const POD_FIELDS: readonly Field[] = [
  {
    ...part('pod', 'annotations', { a: 'b' }, 'annotations of the pods', '"annotations":{"a":"b"}'),
    prop: 'podAnnotations',
    props: { podAnnotations: { a: 'b' } },
  },
  {
    ...part('pod', 'labels', { a: 'b' }, 'labels of the pods; ours win', '"labels":{"a":"b"'),
    prop: 'podLabels',
    props: { podLabels: { a: 'b' } },
  },
  part('pod', 'restartPolicy', 'OnFailure', 'restartPolicy', '"restartPolicy":"OnFailure"'),
  {
    ...part('pod', 'serviceAccountName', 'runner', 'serviceAccountName', '"serviceAccountName":"runner"'),
    prop: 'serviceAccount',
    props: { serviceAccount: account },
  },
  part(
    'pod',
    'automountServiceAccountToken',
    true,
    'automountServiceAccountToken',
    '"automountServiceAccountToken":true',
  ),
  part(
    'pod',
    'restricted',
    true,
    'Pod Security restricted: user 1000, no rights, a read-only root, /tmp',
    '"readOnlyRootFilesystem":true',
    RENDER,
  ),
  part('pod', 'runtimeClassName', 'kata', 'runtimeClassName', '"runtimeClassName":"kata"'),
  part('pod', 'schedulerName', 'my', 'schedulerName', '"schedulerName":"my"'),
  part('pod', 'priorityClassName', 'high', 'priorityClassName', '"priorityClassName":"high"'),
  part('pod', 'nodeSelector', { disk: 'ssd' }, 'nodeSelector', '"nodeSelector":{"disk":"ssd"}'),
  part(
    'pod',
    'nodeAffinity',
    { rack: ['a', 'b'] },
    'required node affinity, In, all of the labels',
    '{"key":"rack","operator":"In","values":["a","b"]}',
    RENDER,
  ),
  part(
    'pod',
    'tolerations',
    [{ key: 'hpc', operator: 'Exists' }],
    'tolerations',
    '"tolerations":[{"key":"hpc"',
  ),
  part(
    'pod',
    'topologySpread',
    [{ topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    'topologySpreadConstraints that count this cluster’s brokers',
    '"topologyKey":"rack"',
  ),
  part('pod', 'dnsPolicy', 'Default', 'dnsPolicy', '"dnsPolicy":"Default"'),
  part('pod', 'hostNetwork', true, 'hostNetwork; brokers keep the pods’ names', '"hostNetwork":true', SHELL),
  { ...part('pod', 'hostIPC', true, 'hostIPC', '"hostIPC":true'), prop: 'hostIpc', props: { hostIpc: true } },
  { ...part('pod', 'hostPID', true, 'hostPID', '"hostPID":true'), prop: 'hostPid', props: { hostPid: true } },
  {
    ...part(
      'pod',
      'terminationGracePeriodSeconds',
      300,
      'terminationGracePeriodSeconds',
      '"terminationGracePeriodSeconds":300',
    ),
    prop: 'terminationGracePeriod',
    props: { terminationGracePeriod: Duration.minutes(5) },
  },
  {
    ...part(
      'pod',
      'resources',
      { cpu: '2' },
      'resources of the pod as a whole',
      '"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}',
    ),
    prop: 'podResources',
    props: { podResources: { cpu: 2 } },
  },
  part(
    'pod',
    'resourceClaims',
    [{ name: 'gpu', resourceClaimTemplateName: 't' }],
    'resourceClaims',
    '"resourceClaims":[{"name":"gpu"',
  ),
  {
    ...part(
      'pod',
      'securityContext',
      { fsGroup: 7, sysctls: [] },
      'securityContext, all of it',
      '"securityContext":{"fsGroup":7',
    ),
    prop: 'podSecurityContext',
    props: { podSecurityContext: { fsGroup: 7, sysctls: [] } },
  },
];

export const FIELDS: readonly Field[] = [
  ...CONTAINER_FIELDS,
  ...CLUSTER_FIELDS,
  ...FLUX_FIELDS,
  ...POD_FIELDS,
];
