/** The files of the pods, in two ConfigMaps: scripts that never change with the size, and what this cluster is. */
import { clusterFiles, containerFiles, type Files, sharedScripts } from './entrypoint';
import { objectMetadata } from './names';
import type { Parts } from './parts';
import type { ManifestObject } from './resource';

/** A ConfigMap's name and files. */
export interface Scripts extends Files {
  readonly name: string;
}

/** All files, by the ConfigMap they are in. */
export function scriptFiles(parts: Parts): readonly Scripts[] {
  const { resource, spec, runner, runnerName, sidecars, names } = parts;
  const wrapped = sidecars.filter(({ noWrapEntrypoint }) => noWrapEntrypoint !== true);
  const own = [
    containerFiles(spec, runner, runnerName),
    ...wrapped.map((each) => containerFiles(spec, each, each.name ?? '')),
  ];
  return [
    { name: names.config, ...clusterFiles(resource, spec, runner, runnerName) },
    { name: names.scripts, ...together(sharedScripts(spec, runner, sidecars), own) },
  ];
}

function together(shared: Files, own: readonly Files[]): Files {
  const more = own.filter(({ items }) => items.length > 0);
  if (more.length === 0) return shared;
  return {
    data: Object.assign({}, shared.data, ...more.map(({ data }) => data)),
    items: shared.items.concat(...more.map(({ items }) => items)),
  };
}

export function configMaps({ resource }: Parts, scripts: readonly Scripts[]): ManifestObject[] {
  return scripts.map(({ name, data }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: objectMetadata(resource, name),
    data,
  }));
}
