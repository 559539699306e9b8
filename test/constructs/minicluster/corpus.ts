/** Specs that are wrong, what the checks say of each, and what the apiserver must refuse as well. */
import type { MiniClusterSpec } from '../../../constructs/minicluster';

export interface Wrong {
  readonly what: string;
  readonly spec: unknown;
  /** Paths of all its problems. */
  readonly paths: readonly string[];
  /** The apiserver finds it too, by schema or CEL. @default true */
  readonly refused?: boolean;
}

export const RUNNER = { image: 'app', command: 'run' };
export const cluster = (more: object) => ({ containers: [RUNNER], ...more });
const container = (more: object) => ({ containers: [{ ...RUNNER, ...more }] });
const volume = (more: object) => container({ volumes: { vol: more } });

export const WRONG: readonly Wrong[] = [
  { what: 'no containers', spec: { size: 2 }, paths: ['spec.containers'] },
  { what: 'an empty list of containers', spec: { containers: [] }, paths: ['spec.containers'] },
  { what: 'a size that is a text', spec: cluster({ size: '4' }), paths: ['spec.size'] },
  { what: 'a size of 0', spec: cluster({ size: 0 }), paths: ['spec.size'] },
  {
    what: 'a port that is none',
    spec: container({ ports: [80, 70000] }),
    paths: ['spec.containers[0].ports[1]'],
  },
  {
    what: 'a variable that is a number',
    spec: container({ environment: { 'A.B': 1 } }),
    paths: ['spec.containers[0].environment["A.B"]'],
  },
  {
    what: 'an unknown restart policy',
    spec: cluster({ pod: { restartPolicy: 'Always' } }),
    paths: ['spec.pod.restartPolicy'],
  },
  { what: 'a name with capitals', spec: container({ name: 'Main' }), paths: ['spec.containers[0].name'] },
  { what: 'a walltime in words', spec: cluster({ walltime: 'long' }), paths: ['spec.walltime'] },
  {
    what: 'half a secret',
    spec: container({ secrets: { A: { name: 'x' } } }),
    paths: ['spec.containers[0].secrets.A.key'],
  },
  { what: 'a maximum below the size', spec: cluster({ size: 4, maxSize: 2 }), paths: ['spec.maxSize'] },
  { what: 'a minimum above the size', spec: cluster({ size: 4, minSize: 5 }), paths: ['spec.minSize'] },
  { what: 'a negative backoff limit', spec: cluster({ backoffLimit: -1 }), paths: ['spec.backoffLimit'] },
  {
    what: 'two containers, none with Flux, one without a name',
    spec: { containers: [{ ...RUNNER, name: 'a' }, RUNNER] },
    paths: ['spec.containers', 'spec.containers[1].name'],
  },
  {
    what: 'two containers with Flux',
    spec: {
      containers: [
        { ...RUNNER, runFlux: true },
        { ...RUNNER, name: 'b', runFlux: true },
      ],
    },
    paths: ['spec.containers'],
  },
  {
    what: 'a sidecar that must have started before the broker it waits for',
    spec: {
      containers: [
        { ...RUNNER, runFlux: true },
        { ...RUNNER, name: 'b', startupProbe: { tcpSocket: { port: 80 } } },
        // These don't wait.
        { image: 'app', name: 'c', noWrapEntrypoint: true, startupProbe: { tcpSocket: { port: 81 } } },
      ],
    },
    paths: ['spec.containers[1].startupProbe'],
    refused: false,
  },
  {
    what: 'launcher and batch',
    spec: container({ launcher: true, batch: true }),
    paths: ['spec.containers[0].launcher'],
  },
  {
    what: 'script and command',
    spec: container({ commands: { script: 'x' } }),
    paths: ['spec.containers[0].command'],
  },
  {
    what: 'batch without command',
    spec: { containers: [{ image: 'app', batch: true }] },
    paths: ['spec.containers[0].command'],
    refused: false,
  },
  {
    what: 'a service without a name that wants Flux and a block before it',
    spec: cluster({ services: [{ image: 'db', runFlux: true, commands: { pre: 'x' } }] }),
    paths: ['spec.services[0].name', 'spec.services[0].runFlux', 'spec.services[0].commands.pre'],
  },
  {
    what: 'a StatefulSet that runs a command and has a Job’s fields',
    spec: cluster({ workload: 'StatefulSet', suspend: true, backoffLimit: 2 }),
    paths: ['spec.workload', 'spec.suspend', 'spec.backoffLimit'],
  },
  {
    what: 'a failure policy without Never',
    spec: cluster({ pod: { restartPolicy: 'OnFailure' }, podFailurePolicy: { rules: [] } }),
    paths: ['spec.podFailurePolicy'],
    refused: false,
  },
  {
    what: 'two certificates',
    spec: cluster({ flux: { curveCert: 'x', curveCertSecret: 'y' } }),
    paths: ['spec.flux.curveCertSecret'],
  },
  {
    what: 'a hostlist and clusters',
    spec: cluster({ flux: { bursting: { hostlist: 'a', clusters: [{}] } } }),
    paths: ['spec.flux.bursting.hostlist'],
  },
  {
    what: 'joining another with a certificate of its own',
    spec: cluster({ flux: { bursting: { leadBroker: { address: 'a', name: 'b', size: 1 } } } }),
    paths: ['spec.flux.bursting.leadBroker'],
    refused: false,
  },
  {
    what: 'a tree over pods without names',
    spec: cluster({ flux: { minimalService: true, topology: 'kary:2' } }),
    paths: ['spec.flux.topology'],
    refused: false,
  },
  {
    what: 'a claim without path',
    spec: volume({ claimName: 'x' }),
    paths: ['spec.containers[0].volumes.vol.path'],
  },
  {
    what: 'a Secret without path',
    spec: volume({ secretName: 'x' }),
    paths: ['spec.containers[0].volumes.vol.path'],
    refused: false,
  },
  {
    what: 'two sources',
    spec: volume({ path: '/a', claimName: 'x', hostPath: '/y' }),
    paths: ['spec.containers[0].volumes.vol'],
  },
  {
    what: 'half an NFS export',
    spec: volume({ path: '/a', nfsServer: 'x' }),
    paths: ['spec.containers[0].volumes.vol.nfsServer'],
  },
  {
    what: 'a volume name with capitals',
    spec: container({ volumes: { Data: { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.Data'],
  },
  {
    what: 'a volume of our name',
    spec: container({ volumes: { 'flux-run': { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.flux-run'],
    refused: false,
  },
  {
    what: 'two volumes in one place',
    spec: container({ volumes: { a: { path: '/a' }, b: { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.b.path'],
    refused: false,
  },
  {
    what: 'one name for two volumes',
    spec: {
      containers: [
        { ...RUNNER, runFlux: true, volumes: { a: { path: '/a' } } },
        { image: 'x', name: 'x', volumes: { a: { path: '/a', claimName: 'c' } } },
      ],
    },
    paths: ['spec.containers[1].volumes.a'],
    refused: false,
  },
  {
    what: 'one name for two containers',
    spec: {
      containers: [
        { ...RUNNER, runFlux: true },
        { image: 'x', name: 'mc' },
        { image: 'x', name: 'flux-view' },
      ],
    },
    paths: ['spec.containers[1].name', 'spec.containers[2].name'],
    refused: false,
  },
  {
    what: 'one name for two Services',
    spec: cluster({ services: [{ image: 'x', name: 'x', ports: [1], serviceName: 'mc' }] }),
    paths: ['spec (serviceName)'],
    refused: false,
  },
  {
    what: 'processes shared and the node’s as well',
    spec: cluster({ shareProcessNamespace: true, pod: { hostPID: true } }),
    paths: ['spec.shareProcessNamespace'],
  },
  {
    what: 'a resource claim of nothing',
    spec: cluster({ pod: { resourceClaims: [{ name: 'gpu' }] } }),
    paths: [],
  },
];

/** Specs for a real apiserver: nothing of what they make may be refused. */
export const RIGHT: Readonly<Record<string, MiniClusterSpec>> = {
  minimal: { containers: [{ image: 'app', command: 'hostname' }] },
  restricted: {
    size: 4,
    maxSize: 8,
    queue: 'night',
    walltime: '1h30m',
    priority: -5,
    exclusive: true,
    ttlSecondsAfterFinished: 60,
    suspend: true,
    archive: { path: '/data/state' },
    containers: [
      {
        image: 'app',
        runFlux: true,
        command: 'lmp -in "a b"',
        commands: { pre: 'x', post: 'y', prefix: 'strace' },
        env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
        envFrom: [{ prefix: 'X_', configMapRef: { name: 'files' } }],
        resources: {
          claims: [{ name: 'gpu' }],
          limits: { cpu: 2, memory: '4Gi', 'nvidia.com/gpu': 1 },
          requests: { cpu: '1500m', memory: '4Gi' },
        },
        volumes: {
          data: { path: '/data', claimName: 'data' },
          files: { path: '/files', configMapName: 'files', items: { a: 'b' } },
          shm: { emptyDir: true, emptyDirMedium: 'memory', emptyDirSizeLimit: '1Gi' },
          token: { path: '/token', secretName: 'vault', defaultMode: 256, readOnly: true },
          nas: { path: '/nas', nfsServer: 'nas', nfsPath: '/e' },
          bucket: { path: '/s3', csiDriver: 's3.csi.example.org', csiDriverAttributes: { bucket: 'b' } },
          scratch: { path: '/scratch' },
        },
      },
      {
        image: 'api',
        name: 'api',
        command: 'serve',
        ports: [80, 443],
        livenessProbe: { httpGet: { port: 80, path: '/' }, periodSeconds: 5 },
      },
    ],
    services: [{ image: 'db', name: 'db', ports: [5432], command: 'db', lifeCycle: { preStopExec: 'sync' } }],
    pod: {
      restricted: true,
      nodeAffinity: { rack: ['a'] },
      tolerations: [{ key: 'hpc', operator: 'Exists' }],
      topologySpread: [{ topologyKey: 'kubernetes.io/hostname' }],
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }],
      terminationGracePeriodSeconds: 60,
    },
    flux: { mungeSecret: 'munge', arch: 'arm64', scheduler: { queuePolicy: 'easy' } },
  },
  persistent: {
    workload: 'StatefulSet',
    interactive: true,
    size: 2,
    maxSize: 6,
    queue: 'night',
    containers: [{ image: 'app', readinessProbe: { tcpSocket: { port: 'flux' } } }],
    flux: { container: { disable: true } },
  },
  batch: {
    size: 2,
    containers: [
      {
        image: 'app',
        batch: true,
        command: 'hostname\ndate\n',
        logs: '/tmp/x',
        securityContext: { runAsUser: 0 },
      },
    ],
    logging: { timed: true, quiet: true },
    shareProcessNamespace: true,
    flux: { minimalService: true },
    pod: { hostNetwork: true, hostIPC: true, resources: { cpu: '4', memory: '8Gi' } },
  },
  child: {
    size: 4,
    containers: [{ image: 'app' }],
    flux: {
      curveCertSecret: 'shared',
      bursting: { leadBroker: { address: '10.0.0.1', name: 'main', size: 4 } },
    },
  },
};
