import type { Size } from 'cdk8s';
import type { IConfigMap, IPersistentVolumeClaim, ISecret } from 'cdk8s-plus-28';
import { omitUndefined } from './object';
import type { Reference } from './reference';
import type { VolumeSpec } from './resource';

/** How a container mounts a volume. */
export interface MountOptions {
  /** Mounts the volume read-only. @default false */
  readonly readOnly?: boolean;
  /** Path within the volume that is mounted in place of the whole volume. @default - the whole volume */
  readonly subPath?: string;
}

/** How a container mounts the keys of a ConfigMap or a Secret. */
export interface FilesOptions extends MountOptions {
  /** Keys to mount, and the path of the file for each of them. @default - every key, as a file of its name */
  readonly items?: Readonly<Record<string, string>>;
  /** Mode of the files. @default 0o644 */
  readonly defaultMode?: number;
}

/** An empty directory and how a container mounts it. */
export interface EmptyDirOptions extends MountOptions {
  /** Path where the directory is mounted. @default /dev/shm */
  readonly path?: string;
  /** Keeps the content of the directory in memory. @default false */
  readonly inMemory?: boolean;
  /** Amount of data that the directory may hold. @default - limited by the node only */
  readonly sizeLimit?: Size;
}

/** A directory of the node and how a container mounts it. */
export interface HostPathOptions extends MountOptions {
  /** What must exist at the path, or is created there. @default Directory */
  readonly type?: NonNullable<VolumeSpec['hostPathType']>;
}

/** A volume of a CSI driver and how a container mounts it. */
export interface CsiOptions extends MountOptions {
  /** Attributes that the driver gets. @default - none */
  readonly attributes?: Readonly<Record<string, string>>;
  /** File system of the volume. @default - the driver's */
  readonly fsType?: string;
  /** Secret with the credentials that the driver mounts with. @default - none */
  readonly secret?: Reference<ISecret>;
}

/** A volume of a pod and the path where a container mounts it. */
export class MiniClusterVolume {
  /** Mounts a PersistentVolumeClaim at `path`. */
  static fromClaim(
    claim: Reference<IPersistentVolumeClaim>,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, claimName: claim.name, path });
  }

  /** Mounts the keys of a ConfigMap as files in the directory `path`. */
  static fromConfigMap(
    configMap: Reference<IConfigMap>,
    path: string,
    options: FilesOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, configMapName: configMap.name, path });
  }

  /** Mounts the keys of a Secret as files in the directory `path`. */
  static fromSecret(secret: Reference<ISecret>, path: string, options: FilesOptions = {}): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, secretName: secret.name, path });
  }

  /** Mounts an empty directory that each pod gets when it starts and loses when it ends. */
  static emptyDir({ inMemory, sizeLimit, ...options }: EmptyDirOptions = {}): MiniClusterVolume {
    return new MiniClusterVolume(
      omitUndefined({
        ...options,
        emptyDir: true,
        emptyDirMedium: inMemory === true ? ('memory' as const) : undefined,
        emptyDirSizeLimit: sizeLimit?.asString(),
      }),
    );
  }

  /** Mounts the directory `hostPath` of the node at `path`. */
  static fromHostPath(
    hostPath: string,
    path: string,
    { type, ...options }: HostPathOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume(omitUndefined({ ...options, hostPath, hostPathType: type, path }));
  }

  /** Mounts a volume that a CSI driver creates for each pod at `path`. */
  static fromCsi(driver: string, path: string, options: CsiOptions = {}): MiniClusterVolume {
    const { attributes, fsType, secret, ...mount } = options;
    return new MiniClusterVolume(
      omitUndefined({
        ...mount,
        csiDriver: driver,
        csiDriverAttributes: attributes,
        csiDriverFsType: fsType,
        csiDriverSecretName: secret?.name,
        path,
      }),
    );
  }

  /** Mounts the directory `exported` of an NFS server at `path`. */
  static fromNfs(
    server: string,
    exported: string,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, nfsServer: server, nfsPath: exported, path });
  }

  private constructor(
    /** The volume as the resource has it. */
    readonly spec: VolumeSpec,
  ) {}
}
