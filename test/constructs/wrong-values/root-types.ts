/** The arguments of each construct, factory and method of the package; roots.ts calls them. */
const propsOf = (construct: string) => `{ props: ConstructorParameters<typeof c.${construct}>[2] }`;
const argumentsOf = (factory: string, ...names: readonly string[]) =>
  `{ ${names.map((name, index) => `'${name}': Parameters<typeof c.${factory}>[${index}]`).join('; ')} }`;

export const ROOT_TYPES = {
  FluxQueue: propsOf('FluxQueue'),
  FluxSetup: propsOf('FluxSetup'),
  MiniCluster: propsOf('MiniCluster'),
  FluxCdKustomization: propsOf('FluxCdKustomization'),
  FluxCdOciRepository: propsOf('FluxCdOciRepository'),
  ArgoCdApplication: propsOf('ArgoCdApplication'),
  ArgoCdApplicationSet: propsOf('ArgoCdApplicationSet'),
  ArgoCdHealth: propsOf('ArgoCdHealth'),
  FluxQueueValidation: '{ props: ConstructorParameters<typeof c.FluxQueueValidation>[0] }',
  'FluxSetup.fromFluxSetupName': argumentsOf('FluxSetup.fromFluxSetupName', 'name'),
  'Database.statefulSet': argumentsOf('Database.statefulSet', 'props'),
  'Database.cloudNativePg': argumentsOf('Database.cloudNativePg', 'props'),
  'Database.fromSecret': argumentsOf('Database.fromSecret', 'secret', 'props'),
  'BackupTarget.volume': argumentsOf('BackupTarget.volume', 'props'),
  'BackupTarget.s3': argumentsOf('BackupTarget.s3', 'props'),
  'WebhookCertificate.certManager': argumentsOf('WebhookCertificate.certManager', 'props'),
  'Certificate.fromSecret': argumentsOf('Certificate.fromSecret', 'secret'),
  'Certificate.fromKeygen': argumentsOf('Certificate.fromKeygen', 'options'),
  'MiniClusterVolume.fromClaim': argumentsOf('MiniClusterVolume.fromClaim', 'claim', 'path', 'options'),
  'MiniClusterVolume.fromConfigMap': argumentsOf(
    'MiniClusterVolume.fromConfigMap',
    ...['configMap', 'path', 'options'],
  ),
  'MiniClusterVolume.fromSecret': argumentsOf('MiniClusterVolume.fromSecret', 'secret', 'path', 'options'),
  'MiniClusterVolume.emptyDir': argumentsOf('MiniClusterVolume.emptyDir', 'options'),
  'MiniClusterVolume.fromHostPath': argumentsOf(
    'MiniClusterVolume.fromHostPath',
    ...['hostPath', 'path', 'options'],
  ),
  'MiniClusterVolume.fromCsi': argumentsOf('MiniClusterVolume.fromCsi', 'driver', 'path', 'options'),
  'MiniClusterVolume.fromNfs': argumentsOf(
    'MiniClusterVolume.fromNfs',
    ...['server', 'exported', 'path', 'options'],
  ),
  'MiniCluster.addEnv': argumentsOf('MiniCluster.prototype.addEnv', 'name', 'value'),
  'MiniCluster.addVolume': argumentsOf('MiniCluster.prototype.addVolume', 'name', 'volume'),
  'MiniCluster.addSidecar': argumentsOf('MiniCluster.prototype.addSidecar', 'props'),
  'MiniCluster.addService': argumentsOf('MiniCluster.prototype.addService', 'props'),
} as const satisfies Readonly<Record<string, string>>;
