import type { Size } from 'cdk8s';
import type { IConfigMap, IPersistentVolumeClaim, ISecret } from 'cdk8s-plus-28';
import { given } from './object';
import type { Reference } from './reference';
import type { ContainerSpec } from './resource';

type VolumeSpec = NonNullable<ContainerSpec['volumes']>[string];

export interface MountOptions {
  /** @default false */
  readonly readOnly?: boolean;
  /** Mount only this path within it. @default - all of it */
  readonly subPath?: string;
}

export interface FilesOptions extends MountOptions {
  /** Keys and the paths they get. @default - all keys under their names */
  readonly items?: Readonly<Record<string, string>>;
  /** Mode of the files. @default 0o644 */
  readonly defaultMode?: number;
}

export interface EmptyDirOptions extends MountOptions {
  /** @default /dev/shm */
  readonly path?: string;
  /** @default false */
  readonly inMemory?: boolean;
  /** @default - what the node has */
  readonly sizeLimit?: Size;
}

export interface HostPathOptions extends MountOptions {
  /** What must be there. @default Directory */
  readonly type?: NonNullable<VolumeSpec['hostPathType']>;
}

export interface CsiOptions extends MountOptions {
  /** @default - none */
  readonly attributes?: Readonly<Record<string, string>>;
  /** @default - the driver's */
  readonly fsType?: string;
  /** Secret that the driver mounts with. @default - none */
  readonly secret?: Reference<ISecret>;
}

/** A volume and where a container mounts it. */
export class MiniClusterVolume {
  /** A PersistentVolumeClaim. */
  static fromClaim(
    claim: Reference<IPersistentVolumeClaim>,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, claimName: claim.name, path });
  }

  /** The keys of a ConfigMap as files. */
  static fromConfigMap(
    configMap: Reference<IConfigMap>,
    path: string,
    options: FilesOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, configMapName: configMap.name, path });
  }

  /** The keys of a Secret as files. */
  static fromSecret(secret: Reference<ISecret>, path: string, options: FilesOptions = {}): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, secretName: secret.name, path });
  }

  /** An empty directory of each pod. */
  static emptyDir({ inMemory, sizeLimit, ...options }: EmptyDirOptions = {}): MiniClusterVolume {
    return new MiniClusterVolume(
      given({
        ...options,
        emptyDir: true,
        emptyDirMedium: inMemory === true ? ('memory' as const) : undefined,
        emptyDirSizeLimit: sizeLimit?.asString(),
      }),
    );
  }

  /** A directory of the node. */
  static fromHostPath(
    hostPath: string,
    path: string,
    { type, ...options }: HostPathOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume(given({ ...options, hostPath, hostPathType: type, path }));
  }

  /** What a CSI driver makes inline. */
  static fromCsi(driver: string, path: string, options: CsiOptions = {}): MiniClusterVolume {
    const { attributes, fsType, secret, ...mount } = options;
    return new MiniClusterVolume(
      given({
        ...mount,
        csiDriver: driver,
        csiDriverAttributes: attributes,
        csiDriverFsType: fsType,
        csiDriverSecretName: secret?.name,
        path,
      }),
    );
  }

  /** An NFS export. */
  static fromNfs(
    server: string,
    exported: string,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    return new MiniClusterVolume({ ...options, nfsServer: server, nfsPath: exported, path });
  }

  private constructor(
    /** As the resource has it. */
    readonly spec: VolumeSpec,
  ) {}
}
