/** The files of the pods, in two ConfigMaps: scripts that never change with the size, and what this cluster is. */
import { clusterFiles, containerFiles, type ScriptFile, sharedScripts } from './entrypoint';
import { objectMetadata } from './names';
import type { Parts } from './parts';
import type { ManifestObject } from './resource';

/** Files by the ConfigMap they are in. */
export function scriptFiles(parts: Parts): Map<string, readonly ScriptFile[]> {
  const { resource, spec, runner, runnerName, sidecars, names } = parts;
  const own = [
    ...containerFiles(spec, runner, runnerName),
    ...sidecars.flatMap((each) =>
      each.noWrapEntrypoint === true ? [] : containerFiles(spec, each, each.name ?? ''),
    ),
  ];
  return new Map([
    [names.config, clusterFiles(resource, spec, runner, runnerName)],
    [names.scripts, [...sharedScripts(spec, runner, sidecars), ...own]],
  ]);
}

export function configMaps(
  { resource }: Parts,
  files: ReadonlyMap<string, readonly ScriptFile[]>,
): ManifestObject[] {
  return [...files].map(([name, each]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: objectMetadata(resource, name),
    data: dataOf(each),
  }));
}

function dataOf(files: readonly ScriptFile[]): Record<string, string> {
  const data: Record<string, string> = {};
  for (const { key, text } of files) data[key] = text;
  return data;
}
