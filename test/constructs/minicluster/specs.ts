/** Invalid specs with the paths of their mistakes, and valid ones for a real apiserver. */
import type { MiniClusterSpec } from '../../../constructs/minicluster';

export interface InvalidSpec {
  readonly mistake: string;
  readonly spec: unknown;
  /** Paths of all mistakes. */
  readonly paths: readonly string[];
  /** Whether the apiserver refuses it too, by schema or CEL. @default true */
  readonly refused?: boolean;
}

export const CONTAINER = { image: 'app', command: 'run' };
export const cluster = (more: object) => ({ containers: [CONTAINER], ...more });
const container = (more: object) => ({ containers: [{ ...CONTAINER, ...more }] });
const volume = (more: object) => container({ volumes: { vol: more } });

export const INVALID: readonly InvalidSpec[] = [
  { mistake: 'no containers', spec: { size: 2 }, paths: ['spec.containers'] },
  { mistake: 'an empty list of containers', spec: { containers: [] }, paths: ['spec.containers'] },
  { mistake: 'a size that is a string', spec: cluster({ size: '4' }), paths: ['spec.size'] },
  { mistake: 'a size of 0', spec: cluster({ size: 0 }), paths: ['spec.size'] },
  {
    mistake: 'a port out of range',
    spec: container({ ports: [80, 70000] }),
    paths: ['spec.containers[0].ports[1]'],
  },
  {
    mistake: 'an environment variable that is a number',
    spec: container({ environment: { 'A.B': 1 } }),
    paths: ['spec.containers[0].environment["A.B"]'],
  },
  {
    mistake: 'an unknown restart policy',
    spec: cluster({ pod: { restartPolicy: 'Always' } }),
    paths: ['spec.pod.restartPolicy'],
  },
  {
    mistake: 'a container name with upper-case letters',
    spec: container({ name: 'Main' }),
    paths: ['spec.containers[0].name'],
  },
  {
    mistake: 'a walltime that is not a duration',
    spec: cluster({ walltime: 'long' }),
    paths: ['spec.walltime'],
  },
  {
    mistake: 'a secret without key',
    spec: container({ secrets: { A: { name: 'x' } } }),
    paths: ['spec.containers[0].secrets.A.key'],
  },
  { mistake: 'a maxSize below the size', spec: cluster({ size: 4, maxSize: 2 }), paths: ['spec.maxSize'] },
  { mistake: 'a minSize above the size', spec: cluster({ size: 4, minSize: 5 }), paths: ['spec.minSize'] },
  { mistake: 'a negative backoff limit', spec: cluster({ backoffLimit: -1 }), paths: ['spec.backoffLimit'] },
  {
    mistake: 'two containers without runFlux, one of them without a name',
    spec: { containers: [{ ...CONTAINER, name: 'a' }, CONTAINER] },
    paths: ['spec.containers', 'spec.containers[1].name'],
  },
  {
    mistake: 'two containers with runFlux',
    spec: {
      containers: [
        { ...CONTAINER, runFlux: true },
        { ...CONTAINER, name: 'b', runFlux: true },
      ],
    },
    paths: ['spec.containers'],
  },
  {
    mistake: 'a startup probe of a sidecar that waits for the broker',
    spec: {
      containers: [
        { ...CONTAINER, runFlux: true },
        { ...CONTAINER, name: 'b', startupProbe: { tcpSocket: { port: 80 } } },
        // A sidecar without our entrypoint does not wait.
        { image: 'app', name: 'c', noWrapEntrypoint: true, startupProbe: { tcpSocket: { port: 81 } } },
      ],
    },
    paths: ['spec.containers[1].startupProbe'],
    refused: false,
  },
  {
    mistake: 'launcher combined with batch',
    spec: container({ launcher: true, batch: true }),
    paths: ['spec.containers[0].launcher'],
  },
  {
    mistake: 'a script combined with a command',
    spec: container({ commands: { script: 'x' } }),
    paths: ['spec.containers[0].command'],
  },
  {
    mistake: 'batch without a command',
    spec: { containers: [{ image: 'app', batch: true }] },
    paths: ['spec.containers[0].command'],
    refused: false,
  },
  {
    mistake: 'a service without a name, with runFlux and with a script of brokers',
    spec: cluster({ services: [{ image: 'db', runFlux: true, commands: { pre: 'x' } }] }),
    paths: ['spec.services[0].name', 'spec.services[0].runFlux', 'spec.services[0].commands.pre'],
  },
  {
    mistake: 'a StatefulSet with a command and with fields of a Job',
    spec: cluster({ workload: 'StatefulSet', suspend: true, backoffLimit: 2 }),
    paths: ['spec.workload', 'spec.suspend', 'spec.backoffLimit'],
  },
  {
    mistake: 'a podFailurePolicy with restartPolicy OnFailure',
    spec: cluster({ pod: { restartPolicy: 'OnFailure' }, podFailurePolicy: { rules: [] } }),
    paths: ['spec.podFailurePolicy'],
    refused: false,
  },
  {
    mistake: 'curveCert combined with curveCertSecret',
    spec: cluster({ flux: { curveCert: 'x', curveCertSecret: 'y' } }),
    paths: ['spec.flux.curveCertSecret'],
  },
  {
    mistake: 'a hostlist combined with clusters',
    spec: cluster({ flux: { bursting: { hostlist: 'a', clusters: [{}] } } }),
    paths: ['spec.flux.bursting.hostlist'],
  },
  {
    mistake: 'joining another cluster without its certificate',
    spec: cluster({ flux: { bursting: { leadBroker: { address: 'a', name: 'b', size: 1 } } } }),
    paths: ['spec.flux.bursting.leadBroker'],
    refused: false,
  },
  {
    mistake: 'a topology combined with minimalService',
    spec: cluster({ flux: { minimalService: true, topology: 'kary:2' } }),
    paths: ['spec.flux.topology'],
    refused: false,
  },
  {
    mistake: 'DNS names as host names with minimalService',
    spec: cluster({ network: { fqdn: true }, flux: { minimalService: true } }),
    paths: ['spec.network.fqdn'],
    refused: false,
  },
  {
    mistake: 'DNS names as host names of several clusters',
    spec: cluster({ network: { fqdn: true }, flux: { bursting: { clusters: [{}] } } }),
    paths: ['spec.network.fqdn'],
    refused: false,
  },
  {
    mistake: 'DNS names that are too long for Flux',
    spec: cluster({ network: { fqdn: true, headlessName: 'h'.repeat(60) } }),
    paths: ['spec.network.fqdn'],
    refused: false,
  },
  {
    mistake: 'a claim without a mount path',
    spec: volume({ claimName: 'x' }),
    paths: ['spec.containers[0].volumes.vol.path'],
  },
  {
    mistake: 'a Secret without a mount path',
    spec: volume({ secretName: 'x' }),
    paths: ['spec.containers[0].volumes.vol.path'],
    refused: false,
  },
  {
    mistake: 'a volume with two sources',
    spec: volume({ path: '/a', claimName: 'x', hostPath: '/y' }),
    paths: ['spec.containers[0].volumes.vol'],
  },
  {
    mistake: 'an NFS server without a path',
    spec: volume({ path: '/a', nfsServer: 'x' }),
    paths: ['spec.containers[0].volumes.vol.nfsServer'],
  },
  {
    mistake: 'a volume name with upper-case letters',
    spec: container({ volumes: { Data: { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.Data'],
  },
  {
    mistake: 'a volume with a reserved name',
    spec: container({ volumes: { 'flux-run': { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.flux-run'],
    refused: false,
  },
  {
    mistake: 'two volumes at one mount path',
    spec: container({ volumes: { a: { path: '/a' }, b: { path: '/a' } } }),
    paths: ['spec.containers[0].volumes.b.path'],
    refused: false,
  },
  {
    mistake: 'two volumes of one name',
    spec: {
      containers: [
        { ...CONTAINER, runFlux: true, volumes: { a: { path: '/a' } } },
        { image: 'x', name: 'x', volumes: { a: { path: '/a', claimName: 'c' } } },
      ],
    },
    paths: ['spec.containers[1].volumes.a'],
    refused: false,
  },
  {
    mistake: 'two containers of one name',
    spec: {
      containers: [
        { ...CONTAINER, runFlux: true },
        { image: 'x', name: 'mc' },
        { image: 'x', name: 'flux-view' },
      ],
    },
    paths: ['spec.containers[1].name', 'spec.containers[2].name'],
    refused: false,
  },
  {
    mistake: 'two Services of one name',
    spec: cluster({ services: [{ image: 'x', name: 'x', ports: [1], serviceName: 'mc' }] }),
    paths: ['spec.services[0].serviceName'],
    refused: false,
  },
  {
    mistake: 'shareProcessNamespace combined with hostPID',
    spec: cluster({ shareProcessNamespace: true, pod: { hostPID: true } }),
    paths: ['spec.shareProcessNamespace'],
  },
  {
    mistake: 'a resource claim without a source',
    spec: cluster({ pod: { resourceClaims: [{ name: 'gpu' }] } }),
    paths: [],
  },
];

/** Specs that a real apiserver accepts, with all of their manifests. */
export const VALID: Readonly<Record<string, MiniClusterSpec>> = {
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
