/** Calls each construct, factory and method with arguments that are right, of which a test replaces a part. */
import { App, Chart, Testing } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import * as c from '../../../constructs';
import type { ROOT_TYPES } from './root-types';

/** By the names of root-types.ts. */
type Arguments = Readonly<Record<string, unknown>>;

export interface Root {
  readonly right: Arguments;
  /** Everything that is written. @throws PropsError */
  readonly call: (given: Arguments) => unknown;
}

const newChart = () => new Chart(new App(), 'app');
const secret = Secret.fromSecretName(newChart(), 'secret', 'credentials');
const container = { image: 'app', command: 'run' };

/** Arguments of any type: the compiler would refuse those that are wrong. */
// biome-ignore lint/suspicious/noExplicitAny: a program in JavaScript has no types
type Untyped = any;

const stackOf = (props: Untyped) => {
  const app = new App();
  new c.FluxQueue(app, 'fluxqueue', props);
  return app.charts.map((chart) => Testing.synth(chart));
};
const inChart = (make: (chart: Chart) => unknown) => {
  const chart = newChart();
  make(chart);
  return Testing.synth(chart);
};
const construct = (
  Kind: new (scope: Construct, id: string, props: never) => Construct,
  right: object,
): Root => ({
  right: { props: right },
  call: ({ props }) => inChart((chart) => new Kind(chart, 'id', props as never)),
});
const database = (right: Arguments, make: (given: Untyped) => c.Database): Root => ({
  right,
  call: (given) => stackOf({ kubernetesVersion: '1.37.1', database: make(given) }),
});
const target = (right: object, make: (props: Untyped) => c.BackupTarget): Root =>
  database({ props: right }, ({ props }) => c.Database.statefulSet({ backup: { target: make(props) } }));
const cluster = (props: object, change: (cluster: c.MiniCluster) => void = () => undefined) =>
  inChart((chart) => change(new c.MiniCluster(chart, 'id', { container, ...props })));
const volume = (right: Arguments, make: (given: Untyped) => c.MiniClusterVolume): Root => ({
  right: { ...right, options: {} },
  call: (given) => cluster({ container: { ...container, volumes: { data: make(given) } } }),
});
const added = (right: Arguments, add: (cluster: c.MiniCluster, given: Untyped) => unknown): Root => ({
  right,
  call: (given) => cluster({}, (made) => add(made, given)),
});

export const ROOTS: Readonly<Record<keyof typeof ROOT_TYPES, Root>> = {
  FluxQueue: { right: { props: {} }, call: ({ props }) => stackOf(props) },
  FluxSetup: construct(c.FluxSetup, {}),
  MiniCluster: construct(c.MiniCluster, { container }),
  FluxCdKustomization: construct(c.FluxCdKustomization, { path: './dist' }),
  FluxCdOciRepository: construct(c.FluxCdOciRepository, { url: 'oci://registry/name', ref: { tag: 'main' } }),
  ArgoCdApplication: construct(c.ArgoCdApplication, {
    repository: 'https://git.example.org/a',
    path: 'dist',
  }),
  ArgoCdApplicationSet: construct(c.ArgoCdApplicationSet, {
    repository: 'a',
    each: { folders: ['teams/*'] },
  }),
  ArgoCdHealth: construct(c.ArgoCdHealth, {}),
  FluxQueueValidation: {
    right: { props: {} },
    call: ({ props }) => new c.FluxQueueValidation(props as Untyped),
  },
  'FluxSetup.fromFluxSetupName': {
    right: { name: 'night' },
    call: ({ name }) => cluster({ queue: c.FluxSetup.fromFluxSetupName(name as Untyped) }),
  },
  'Database.statefulSet': database({ props: {} }, ({ props }) => c.Database.statefulSet(props)),
  'Database.cloudNativePg': database({ props: {} }, ({ props }) => c.Database.cloudNativePg(props)),
  'Database.fromSecret': database({ secret, props: {} }, (given) =>
    c.Database.fromSecret(given.secret, given.props),
  ),
  'BackupTarget.volume': target({}, (props) => c.BackupTarget.volume(props)),
  'BackupTarget.s3': target(
    { endpoint: 'https://s3.example.org', bucket: 'dumps', credentials: secret },
    (props) => c.BackupTarget.s3(props),
  ),
  'WebhookCertificate.certManager': {
    right: { props: {} },
    call: ({ props }) =>
      stackOf({
        admission: 'webhook',
        webhookCertificate: c.WebhookCertificate.certManager(props as Untyped),
      }),
  },
  'Certificate.fromSecret': {
    right: { secret },
    call: (given) => cluster({ certificate: c.Certificate.fromSecret(given.secret as Untyped) }),
  },
  'Certificate.fromKeygen': {
    right: { options: {} },
    call: ({ options }) => cluster({ certificate: c.Certificate.fromKeygen(options as Untyped) }),
  },
  'MiniClusterVolume.fromClaim': volume({ claim: { name: 'claim' }, path: '/data' }, (given) =>
    c.MiniClusterVolume.fromClaim(given.claim, given.path, given.options),
  ),
  'MiniClusterVolume.fromConfigMap': volume({ configMap: { name: 'map' }, path: '/data' }, (given) =>
    c.MiniClusterVolume.fromConfigMap(given.configMap, given.path, given.options),
  ),
  'MiniClusterVolume.fromSecret': volume({ secret, path: '/data' }, (given) =>
    c.MiniClusterVolume.fromSecret(given.secret, given.path, given.options),
  ),
  'MiniClusterVolume.emptyDir': volume({}, ({ options }) => c.MiniClusterVolume.emptyDir(options)),
  'MiniClusterVolume.fromHostPath': volume({ hostPath: '/scratch', path: '/data' }, (given) =>
    c.MiniClusterVolume.fromHostPath(given.hostPath, given.path, given.options),
  ),
  'MiniClusterVolume.fromCsi': volume({ driver: 'csi.example.org', path: '/data' }, (given) =>
    c.MiniClusterVolume.fromCsi(given.driver, given.path, given.options),
  ),
  'MiniClusterVolume.fromNfs': volume({ server: 'nfs', exported: '/export', path: '/data' }, (given) =>
    c.MiniClusterVolume.fromNfs(given.server, given.exported, given.path, given.options),
  ),
  'MiniCluster.addEnv': added({ name: 'A', value: '1' }, (it, given) => it.addEnv(given.name, given.value)),
  'MiniCluster.addVolume': added({ name: 'data', volume: c.MiniClusterVolume.emptyDir() }, (it, given) =>
    it.addVolume(given.name, given.volume),
  ),
  'MiniCluster.addSidecar': added({ props: { image: 'side', name: 'side' } }, (it, { props }) =>
    it.addSidecar(props),
  ),
  'MiniCluster.addService': added({ props: { image: 'side', name: 'side', ports: [80] } }, (it, { props }) =>
    it.addService(props),
  ),
};
