/** Runs one container as a bubblewrap command with the programs of this machine, the folders of the image and the volumes of the pod. */
import { existsSync } from 'node:fs';
import type { Image } from './pods';
import type { Volume } from './volumes';

interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
  readonly readOnlyRootFilesystem?: boolean;
}

interface ContainerOf {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly restartPolicy?: string;
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

export interface PodSpec {
  readonly subdomain: string;
  readonly hostNetwork?: boolean;
  readonly securityContext?: SecurityContext;
  readonly initContainers?: readonly ContainerOf[];
  readonly containers: readonly ContainerOf[];
  readonly volumes: readonly Volume[];
}

interface Sandbox {
  readonly container: ContainerOf;
  readonly pod: PodSpec;
  readonly image: Image;
  readonly hostname: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: ReadonlyMap<string, string>;
  readonly hosts: string;
}

const PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** The files in /etc that programs of this machine need. */
const ETC = [
  'alternatives',
  'group',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'lua',
  'passwd',
];

export function sandbox(of: Sandbox): string[] {
  const { container, image, hostname } = of;
  const readOnly = container.securityContext?.readOnlyRootFilesystem === true;
  return [
    'bwrap',
    ...['--info-fd', '3', '--die-with-parent', '--unshare-pid', '--unshare-ipc', '--as-pid-1'],
    ...['--unshare-uts', '--hostname', hostname],
    ...folders([
      '/etc',
      ...Object.keys(image.folders),
      ...(container.volumeMounts ?? []).map((mount) => mount.mountPath),
    ]),
    ...root(of.hosts),
    ...Object.entries(image.folders).flatMap(([at, from]) => ['--ro-bind', from, at]),
    ...(readOnly
      ? []
      : ['/tmp', '/var/tmp', '/run', '/root'].flatMap((at) => ['--perms', '1777', '--tmpfs', at])),
    ...mounts(of),
    ...(readOnly ? ['--remount-ro', '/'] : []),
    ...environment(of),
    ...(container.workingDir === undefined ? [] : ['--chdir', container.workingDir]),
    '--',
    ...user(of),
    ...(container.command ?? []),
    ...(container.args ?? []),
  ];
}

/** Creates the parent folders of the mounts, because bubblewrap would create them with access for root only. */
function folders(paths: readonly string[]): string[] {
  const above = paths.flatMap((path) =>
    path.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/')),
  );
  return [...new Set(above)]
    .filter((path) => path !== '')
    .flatMap((path) => ['--perms', '0755', '--dir', path]);
}

function root(hosts: string): string[] {
  return [
    ...['--ro-bind', '/usr', '/usr', '--proc', '/proc', '--dev', '/dev', '--ro-bind', '/sys', '/sys'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...ETC.map((name) => `/etc/${name}`)
      .filter((path) => existsSync(path))
      .flatMap((path) => ['--ro-bind', path, path]),
    ...['--ro-bind', hosts, '/etc/hosts'],
  ];
}

function mounts({ container, volumes }: Sandbox): string[] {
  return (container.volumeMounts ?? []).flatMap(({ name, mountPath, readOnly }) => [
    readOnly === true ? '--ro-bind' : '--bind',
    volumes.get(name)!,
    mountPath,
  ]);
}

function environment({ container, image, environment }: Sandbox): string[] {
  const all: Record<string, string> = {
    PATH: [...(image.path ?? []), ...PATH].join(':'),
    HOME: '/',
    ...environment,
  };
  for (const { name, value } of container.env ?? []) if (value !== undefined) all[name] = value;
  return ['--clearenv', ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value])];
}

function user({ container, pod }: Sandbox): string[] {
  const { runAsUser, runAsGroup, fsGroup } = { ...pod.securityContext, ...container.securityContext };
  if (runAsUser === undefined) return [];
  const groups = fsGroup === undefined ? ['--clear-groups'] : ['--groups', String(fsGroup)];
  return [
    'setpriv',
    '--reuid',
    String(runAsUser),
    '--regid',
    String(runAsGroup ?? 0),
    ...groups,
    '--no-new-privs',
  ];
}
