/** The files of the pods, in two ConfigMaps: scripts that never change with the size, and what this cluster is. */

import type { Parts } from './context';
import { clusterFiles, type Files, runnerFiles, sharedScripts, sidecarFiles } from './entrypoint';
import { objectMetadata } from './object-metadata';
import type { ManifestObject } from './resource';

/** A ConfigMap's name and files. */
export interface Scripts extends Files {
  readonly name: string;
}

/** All files, by the ConfigMap they are in. */
export function scriptFiles(parts: Parts): readonly Scripts[] {
  const { spec, runner, sidecars, names } = parts;
  let files = together(sharedScripts(spec, runner, sidecars), runnerFiles(spec, runner));
  for (const each of sidecars)
    if (each.noWrapEntrypoint !== true) files = together(files, sidecarFiles(each));
  return [
    { name: names.config, ...clusterFiles(parts) },
    { name: names.scripts, ...files },
  ];
}

function together(files: Files, more: Files): Files {
  if (more.items.length === 0) return files;
  return { data: { ...files.data, ...more.data }, items: files.items.concat(more.items) };
}

export function configMaps(parts: Parts, scripts: readonly Scripts[]): ManifestObject[] {
  return scripts.map(({ name, data }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: objectMetadata(parts, name),
    data,
  }));
}
