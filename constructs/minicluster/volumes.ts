/** The user's volumes: one of a name per pod, mounted by the containers that list it. */

import { given, mapSorted } from './object';
import type { ContainerSpec } from './resource';

type VolumeSpec = NonNullable<ContainerSpec['volumes']>[string];
/** A volume of a pod, or a mount of a container. */
export type Named = { readonly name: string; readonly [field: string]: unknown };

/** Where upstream mounts every emptyDir: programs want memory there. */
const SHARED_MEMORY = '/dev/shm';

/** The volumes that a pod's containers list. */
export function pushUserVolumes(all: Named[], ...containers: readonly ContainerSpec[]): void {
  const byName: Record<string, VolumeSpec> = {};
  for (const { volumes } of containers) for (const name in volumes) byName[name] ??= volumes[name]!;
  all.push(...mapSorted(byName, (name, volume) => ({ name, ...volumeSource(volume) })));
}

export function pushUserMounts(all: Named[], { volumes }: ContainerSpec): void {
  const mounts = mapSorted(volumes, (name, volume) =>
    given({
      name,
      mountPath: mountPathOf(volume),
      readOnly: volume.readOnly === true ? true : undefined,
      subPath: volume.subPath,
    }),
  );
  all.push(...mounts);
}

/** Where it is mounted; undefined if the spec does not say and there is no default. */
export function mountPathOf({ path, emptyDir }: VolumeSpec): string | undefined {
  return path ?? (emptyDir === true ? SHARED_MEMORY : undefined);
}

/** The volume's source as in a pod. */
export function volumeSource(volume: VolumeSpec): Record<string, unknown> {
  const source = SOURCES.map((make) => make(volume)).find((each) => each !== undefined);
  // Only a path: the pod's own empty directory, as users of such manifests expect.
  return source ?? { emptyDir: {} };
}

const SOURCES: readonly ((volume: VolumeSpec) => Record<string, unknown> | undefined)[] = [
  csi,
  ({ secretName, items, defaultMode }) =>
    secretName === undefined ? undefined : { secret: given({ secretName, items: keys(items), defaultMode }) },
  ({ emptyDir, emptyDirMedium, emptyDirSizeLimit }) =>
    emptyDir !== true
      ? undefined
      : {
          emptyDir: given({
            medium: emptyDirMedium?.toLowerCase() === 'memory' ? 'Memory' : undefined,
            sizeLimit: emptyDirSizeLimit,
          }),
        },
  ({ hostPath, hostPathType }) =>
    hostPath === undefined ? undefined : { hostPath: { path: hostPath, type: hostPathType ?? 'Directory' } },
  ({ configMapName, items, defaultMode }) =>
    configMapName === undefined
      ? undefined
      : { configMap: given({ name: configMapName, items: keys(items), defaultMode }) },
  ({ claimName, readOnly }) =>
    claimName === undefined
      ? undefined
      : { persistentVolumeClaim: given({ claimName, readOnly: readOnly === true ? true : undefined }) },
  ({ nfsServer, nfsPath }) =>
    nfsServer === undefined ? undefined : { nfs: { server: nfsServer, path: nfsPath } },
];

function csi(volume: VolumeSpec): Record<string, unknown> | undefined {
  const { csiDriver, csiDriverAttributes, csiDriverFsType, csiDriverSecretName, readOnly } = volume;
  if (csiDriver === undefined) return undefined;
  return {
    csi: given({
      driver: csiDriver,
      fsType: csiDriverFsType,
      nodePublishSecretRef: csiDriverSecretName === undefined ? undefined : { name: csiDriverSecretName },
      readOnly: readOnly === true ? true : undefined,
      volumeAttributes: csiDriverAttributes,
    }),
  };
}

function keys(items: VolumeSpec['items']): { key: string; path: string }[] | undefined {
  return items === undefined ? undefined : mapSorted(items, (key, path) => ({ key, path }));
}
