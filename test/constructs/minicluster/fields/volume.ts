import { App, Chart, Size } from 'cdk8s';
import { ConfigMap, PersistentVolumeClaim, Secret } from 'cdk8s-plus-28';
import { MiniClusterVolume } from '../../../../constructs/minicluster';
import type { Field } from './field';

const chart = new Chart(new App(), 'test');
const secret = Secret.fromSecretName(chart, 'secret', 'vault');
const configMap = ConfigMap.fromConfigMapName(chart, 'files', 'files');
const claim = PersistentVolumeClaim.fromClaimName(chart, 'claim', 'data');

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

export const VOLUME_FIELDS: readonly Field[] = [
  volume(
    'path',
    'mountPath; a volume without a source is an empty directory',
    { path: '/data', emptyDir: true },
    MiniClusterVolume.emptyDir({ path: '/data' }),
    '{"name":"vol","mountPath":"/data"}',
  ),
  volume(
    'readOnly',
    'readOnly of the mount',
    { path: '/d', claimName: 'data', readOnly: true },
    MiniClusterVolume.fromClaim(claim, '/d', { readOnly: true }),
    '"mountPath":"/d","readOnly":true',
  ),
  volume(
    'subPath',
    'subPath of the mount',
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
    'ConfigMap, whose keys become files',
    { path: '/d', configMapName: 'files' },
    MiniClusterVolume.fromConfigMap(configMap, '/d'),
    '{"name":"vol","configMap":{"name":"files"}}',
  ),
  volume(
    'secretName',
    'Secret, whose keys become files',
    { path: '/d', secretName: 'vault' },
    MiniClusterVolume.fromSecret(secret, '/d'),
    '{"name":"vol","secret":{"secretName":"vault"}}',
  ),
  volume(
    'items',
    'the keys to mount and their paths, sorted by key',
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
    'directory of the node, which must exist',
    { path: '/d', hostPath: '/srv' },
    MiniClusterVolume.fromHostPath('/srv', '/d'),
    '"hostPath":{"path":"/srv","type":"Directory"}',
  ),
  volume(
    'hostPathType',
    'what must exist at the path',
    { path: '/d', hostPath: '/srv', hostPathType: 'DirectoryOrCreate' },
    MiniClusterVolume.fromHostPath('/srv', '/d', { type: 'DirectoryOrCreate' }),
    '"type":"DirectoryOrCreate"',
  ),
  volume(
    'emptyDir',
    'empty directory; without a path it is mounted at /dev/shm',
    { emptyDir: true },
    MiniClusterVolume.emptyDir(),
    '{"name":"vol","mountPath":"/dev/shm"}',
  ),
  volume(
    'emptyDirMedium',
    'medium Memory',
    { emptyDir: true, emptyDirMedium: 'memory' },
    MiniClusterVolume.emptyDir({ inMemory: true }),
    '{"name":"vol","emptyDir":{"medium":"Memory"}}',
  ),
  volume(
    'emptyDirSizeLimit',
    'sizeLimit',
    { emptyDir: true, emptyDirSizeLimit: '64Gi' },
    MiniClusterVolume.emptyDir({ sizeLimit: Size.gibibytes(64) }),
    '"sizeLimit":"64Gi"',
  ),
  volume(
    'csiDriver',
    'ephemeral CSI volume',
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
    'server of the NFS export',
    { path: '/d', nfsServer: 'nas', nfsPath: '/e' },
    MiniClusterVolume.fromNfs('nas', '/e', '/d'),
    '"nfs":{"server":"nas"',
  ),
  volume(
    'nfsPath',
    'path of the NFS export',
    { path: '/d', nfsServer: 'nas', nfsPath: '/e' },
    MiniClusterVolume.fromNfs('nas', '/e', '/d'),
    '"path":"/e"',
  ),
];
