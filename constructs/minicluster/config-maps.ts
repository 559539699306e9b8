/** The files of the pods, in two ConfigMaps: scripts that never change with the size, and what this cluster is. */
import { clusterFiles, containerFiles, type ScriptFile, sharedScripts } from './entrypoint';
import { objectMetadata } from './names';
import type { Parts } from './parts';
import type { ManifestObject } from './resource';

/** A ConfigMap's name and files. */
export interface Scripts {
  readonly name: string;
  readonly files: readonly ScriptFile[];
}

/** All files, by the ConfigMap they are in. */
export function scriptFiles(parts: Parts): readonly Scripts[] {
  const { resource, spec, runner, runnerName, sidecars, names } = parts;
  const own = [
    ...containerFiles(spec, runner, runnerName),
    ...sidecars.flatMap((each) =>
      each.noWrapEntrypoint === true ? [] : containerFiles(spec, each, each.name ?? ''),
    ),
  ];
  return [
    { name: names.config, files: clusterFiles(resource, spec, runner, runnerName) },
    { name: names.scripts, files: [...sharedScripts(spec, runner, sidecars), ...own] },
  ];
}

export function configMaps({ resource }: Parts, scripts: readonly Scripts[]): ManifestObject[] {
  return scripts.map(({ name, files }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: objectMetadata(resource, name),
    data: dataOf(files),
  }));
}

function dataOf(files: readonly ScriptFile[]): Record<string, string> {
  const data: Record<string, string> = {};
  for (const { key, text } of files) data[key] = text;
  return data;
}
