/** The files of the pods in two ConfigMaps: the scripts, which do not depend on the size, and everything that does. */
import type { ClusterContext } from './context';
import { brokerContainerFiles, clusterFiles, type Files, sharedScripts, sidecarFiles } from './entrypoint';
import { LazyManifest } from './manifest';
import { objectMetadata } from './object-metadata';
import type { ReportContact } from './resource';

/** A ConfigMap by name with its files. */
export interface ConfigMapFiles extends Files {
  readonly name: string;
}

export function configMapFiles(
  context: ClusterContext,
  report?: ReportContact,
): readonly [ConfigMapFiles, ConfigMapFiles] {
  const { spec, brokerContainer, sidecars, names } = context;
  let files = merged(
    sharedScripts(spec, brokerContainer, sidecars),
    brokerContainerFiles(spec, brokerContainer),
  );
  for (const sidecar of sidecars)
    if (sidecar.noWrapEntrypoint !== true) files = merged(files, sidecarFiles(sidecar));
  return [
    { name: names.config, ...clusterFiles(context, report) },
    { name: names.scripts, ...files },
  ];
}

function merged(files: Files, more: Files): Files {
  if (more.items.length === 0) return files;
  return { data: { ...files.data, ...more.data }, items: files.items.concat(more.items) };
}

/** @param files returns what `configMapFiles` does */
export function configMaps(
  context: ClusterContext,
  files: () => readonly [ConfigMapFiles, ConfigMapFiles],
): LazyManifest[] {
  const { names } = context;
  return [names.config, names.scripts].map((name, index) => {
    const metadata = objectMetadata(context, name);
    return new LazyManifest('v1', 'ConfigMap', metadata, () => ({ data: files()[index]!.data }));
  });
}
