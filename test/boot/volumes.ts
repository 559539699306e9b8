/** Creates the volumes of a pod as folders on this machine, with the owners and modes that a kubelet sets. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ManifestObject } from '../../constructs/minicluster';
import type { PodSpec } from './sandbox';

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly hostPath?: { readonly path: string };
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly projected?: {
    readonly sources: readonly (
      | {
          readonly configMap: {
            readonly name: string;
            readonly items: readonly {
              readonly key: string;
              readonly path: string;
              readonly mode?: number;
            }[];
          };
        }
      | { readonly serviceAccountToken: { readonly audience: string; readonly path: string } }
    )[];
  };
}

/** Returns the folders by the names of the volumes. */
export function makeVolumes(
  objects: readonly ManifestObject[],
  pod: PodSpec,
  folder: string,
): ReadonlyMap<string, string> {
  const group = pod.securityContext?.fsGroup;
  return new Map(pod.volumes.map((volume) => [volume.name, make(volume, objects, group, folder)]));
}

function make(volume: Volume, objects: readonly ManifestObject[], group: number | undefined, folder: string) {
  if (volume.hostPath !== undefined) return volume.hostPath.path;
  const path = join(folder, volume.name);
  mkdirSync(path, { recursive: true });
  if (volume.emptyDir !== undefined) {
    chmodSync(path, group === undefined ? 0o777 : 0o2777);
    if (group !== undefined) chownSync(path, 0, group);
  } else {
    for (const { at, text, mode } of filesOf(volume, objects)) write(join(path, at), text, mode, group);
  }
  return path;
}

interface File {
  readonly at: string;
  readonly text: string;
  readonly mode: number;
}

/** The files of a Secret or projected volume. */
export function filesOf({ name, secret, projected }: Volume, objects: readonly ManifestObject[]): File[] {
  if (secret !== undefined) {
    const { secretName, defaultMode: mode = 0o644 } = secret;
    const data = Object.entries(dataOf(objects, 'Secret', secretName));
    return data.map(([at, text]) => ({ at, text, mode }));
  }
  if (projected === undefined) throw new Error(`volume ${name} has a type that is not supported`);
  return projected.sources.flatMap((source) => {
    if ('serviceAccountToken' in source) {
      const { path, audience } = source.serviceAccountToken;
      return [{ at: path, text: `token for ${audience}`, mode: 0o600 }];
    }
    const { configMap } = source;
    const data = dataOf(objects, 'ConfigMap', configMap.name);
    return configMap.items.map(({ key, path, mode = 0o644 }) => ({ at: path, text: data[key]!, mode }));
  });
}

function dataOf(objects: readonly ManifestObject[], kind: string, name: string): Record<string, string> {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return (found.data ?? found.stringData) as Record<string, string>;
}

/** With an fsGroup, the kubelet gives the group the same read access as the owner. */
function write(path: string, text: string, mode: number, group: number | undefined): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, group === undefined ? mode : mode | ((mode & 0o400) >> 3));
  if (group !== undefined) chownSync(path, 0, group);
}
