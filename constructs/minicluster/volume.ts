import type { Size } from 'cdk8s';
import type { IConfigMap, IPersistentVolumeClaim, ISecret } from 'cdk8s-plus-28';
import { checkByRules, group, type PropRules, required } from '../api/prop-rules';
import { anyText, flag, mapOf, oneOf, reference, size, text, whole } from '../api/rules';
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

const MOUNT: PropRules<MountOptions> = { readOnly: flag, subPath: anyText };
const FILES: PropRules<FilesOptions> = { ...MOUNT, items: mapOf(anyText), defaultMode: whole };
const EMPTY_DIR: PropRules<EmptyDirOptions> = { ...MOUNT, path: text, inMemory: flag, sizeLimit: size };
const HOST_PATH: PropRules<HostPathOptions> = {
  ...MOUNT,
  type: oneOf(
    '',
    'DirectoryOrCreate',
    'Directory',
    'FileOrCreate',
    'File',
    'Socket',
    'CharDevice',
    'BlockDevice',
  ),
};
const CSI: PropRules<CsiOptions> = {
  ...MOUNT,
  attributes: mapOf(anyText),
  fsType: anyText,
  secret: reference('Secret'),
};

/** The arguments of a factory that every volume has. */
interface Mounted<Options> {
  readonly path: string;
  readonly options: Options;
}
const mounted = <Options extends object>(options: PropRules<Options>): PropRules<Mounted<object>> => ({
  path: required(text),
  options: required(group(options)),
});

/** A volume of a pod and the path where a container mounts it. */
export class MiniClusterVolume {
  /** Mounts a PersistentVolumeClaim at `path`. @throws PropsError for an argument of another kind */
  static fromClaim(
    claim: Reference<IPersistentVolumeClaim>,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromClaim',
      { claim, path, options },
      {
        claim: required(reference('PersistentVolumeClaim', { factory: 'fromClaimName' })),
        ...mounted(MOUNT),
      },
    );
    return new MiniClusterVolume({ ...options, claimName: claim.name, path });
  }

  /** Mounts the keys of a ConfigMap as files in the directory `path`. @throws PropsError for an argument of another kind */
  static fromConfigMap(
    configMap: Reference<IConfigMap>,
    path: string,
    options: FilesOptions = {},
  ): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromConfigMap',
      { configMap, path, options },
      { configMap: required(reference('ConfigMap')), ...mounted(FILES) },
    );
    return new MiniClusterVolume({ ...options, configMapName: configMap.name, path });
  }

  /** Mounts the keys of a Secret as files in the directory `path`. @throws PropsError for an argument of another kind */
  static fromSecret(secret: Reference<ISecret>, path: string, options: FilesOptions = {}): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromSecret',
      { secret, path, options },
      { secret: required(reference('Secret')), ...mounted(FILES) },
    );
    return new MiniClusterVolume({ ...options, secretName: secret.name, path });
  }

  /** Mounts an empty directory that each pod gets when it starts and loses when it ends. @throws PropsError for a wrong option */
  static emptyDir(options: EmptyDirOptions = {}): MiniClusterVolume {
    checkByRules('MiniClusterVolume.emptyDir', options, EMPTY_DIR);
    const { inMemory, sizeLimit, ...mount } = options;
    return new MiniClusterVolume(
      omitUndefined({
        ...mount,
        emptyDir: true,
        emptyDirMedium: inMemory === true ? ('memory' as const) : undefined,
        emptyDirSizeLimit: sizeLimit?.asString(),
      }),
    );
  }

  /** Mounts the directory `hostPath` of the node at `path`. @throws PropsError for an argument of another kind */
  static fromHostPath(hostPath: string, path: string, options: HostPathOptions = {}): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromHostPath',
      { hostPath, path, options },
      { hostPath: required(text), ...mounted(HOST_PATH) },
    );
    const { type, ...mount } = options;
    return new MiniClusterVolume(omitUndefined({ ...mount, hostPath, hostPathType: type, path }));
  }

  /** Mounts a volume that a CSI driver creates for each pod at `path`. @throws PropsError for an argument of another kind */
  static fromCsi(driver: string, path: string, options: CsiOptions = {}): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromCsi',
      { driver, path, options },
      { driver: required(text), ...mounted(CSI) },
    );
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

  /** Mounts the directory `exported` of an NFS server at `path`. @throws PropsError for an argument of another kind */
  static fromNfs(
    server: string,
    exported: string,
    path: string,
    options: MountOptions = {},
  ): MiniClusterVolume {
    checkByRules(
      'MiniClusterVolume.fromNfs',
      { server, exported, path, options },
      { server: required(text), exported: required(text), ...mounted(MOUNT) },
    );
    return new MiniClusterVolume({ ...options, nfsServer: server, nfsPath: exported, path });
  }

  private constructor(
    /** The volume as the resource has it. */
    readonly spec: VolumeSpec,
  ) {}
}
