/** Volumes of users: a pod has one of each name, and the containers that list it mount it. */
import { mapSorted, omitUndefined } from './object';
import type { ContainerSpec, VolumeSpec } from './resource';

/** A volume of a pod, or a mount of a container. */
export type NamedObject = { readonly name: string; readonly [field: string]: unknown };

/** flux-operator mounts every emptyDir here, because MPI programs need shared memory. */
const SHARED_MEMORY = '/dev/shm';

/** Adds the volumes that the containers of a pod list. */
export function pushUserVolumes(all: NamedObject[], ...containers: readonly ContainerSpec[]): void {
  const byName: Record<string, VolumeSpec> = {};
  for (const { volumes } of containers) for (const name in volumes) byName[name] ??= volumes[name]!;
  all.push(...mapSorted(byName, (name, volume) => ({ name, ...volumeSource(volume) })));
}

/** Adds the mounts of one container. */
export function pushUserMounts(all: NamedObject[], { volumes }: ContainerSpec): void {
  const mounts = mapSorted(volumes, (name, volume) =>
    omitUndefined({
      name,
      mountPath: mountPathOf(volume),
      readOnly: volume.readOnly === true ? true : undefined,
      subPath: volume.subPath,
    }),
  );
  all.push(...mounts);
}

/** Path where a volume is mounted; undefined if the spec has none and there is no default. */
export function mountPathOf({ path, emptyDir }: VolumeSpec): string | undefined {
  return path ?? (emptyDir === true ? SHARED_MEMORY : undefined);
}

/** Renders the source of a volume. */
export function volumeSource(volume: VolumeSpec): Record<string, unknown> {
  const source = SOURCES.map((make) => make(volume)).find((made) => made !== undefined);
  // A volume with nothing but a path is an empty directory, as users of such manifests expect.
  return source ?? { emptyDir: {} };
}

const SOURCES: readonly ((volume: VolumeSpec) => Record<string, unknown> | undefined)[] = [
  csi,
  ({ secretName, items, defaultMode }) =>
    secretName === undefined
      ? undefined
      : { secret: omitUndefined({ secretName, items: keys(items), defaultMode }) },
  ({ emptyDir, emptyDirMedium, emptyDirSizeLimit }) =>
    emptyDir !== true
      ? undefined
      : {
          emptyDir: omitUndefined({
            medium: emptyDirMedium?.toLowerCase() === 'memory' ? 'Memory' : undefined,
            sizeLimit: emptyDirSizeLimit,
          }),
        },
  ({ hostPath, hostPathType }) =>
    hostPath === undefined ? undefined : { hostPath: { path: hostPath, type: hostPathType ?? 'Directory' } },
  ({ configMapName, items, defaultMode }) =>
    configMapName === undefined
      ? undefined
      : { configMap: omitUndefined({ name: configMapName, items: keys(items), defaultMode }) },
  ({ claimName, readOnly }) =>
    claimName === undefined
      ? undefined
      : {
          persistentVolumeClaim: omitUndefined({ claimName, readOnly: readOnly === true ? true : undefined }),
        },
  ({ nfsServer, nfsPath }) =>
    nfsServer === undefined ? undefined : { nfs: { server: nfsServer, path: nfsPath } },
];

function csi(volume: VolumeSpec): Record<string, unknown> | undefined {
  const { csiDriver, csiDriverAttributes, csiDriverFsType, csiDriverSecretName, readOnly } = volume;
  if (csiDriver === undefined) return undefined;
  return {
    csi: omitUndefined({
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
