/**
 * What is wrong with a resource, all of it at once. The schema's half comes
 * from the CRD; the other files check-*.ts have what the CRD says in CEL, in
 * the same words, and what only rendering knows.
 */
import { clusterProblems } from './check-cluster';
import { containerProblems } from './check-container';
import { nameProblems, sharedNameProblems } from './check-names';
import { configMaps, scriptFiles } from './config-maps';
import { takeApart } from './parts';
import type { Problem } from './problem';
import type { MiniClusterResource } from './resource';
import { SPEC_SCHEMA } from './schema';
import { schemaProblems } from './schema-check';

/** Every problem; none: it can be rendered, and the apiserver takes what comes out. */
export function checkMiniCluster(resource: MiniClusterResource): Problem[] {
  const byShape = [...nameProblems(resource), ...schemaProblems(resource.spec, SPEC_SCHEMA, 'spec')];
  // The rest reads fields and trusts their types.
  if (byShape.length > 0) return byShape;
  const parts = takeApart(resource);
  const groups = { containers: parts.spec.containers, services: parts.spec.services ?? [] };
  return [
    ...clusterProblems(parts),
    ...Object.entries(groups).flatMap(([group, containers]) =>
      containers.flatMap((each, index) => containerProblems(each, `spec.${group}[${index}]`)),
    ),
    ...sharedNameProblems(parts),
    ...fileProblems(resource),
  ];
}

/** What etcd takes. */
const MAX_BYTES = 1024 * 1024;

function fileProblems(resource: MiniClusterResource): Problem[] {
  const parts = takeApart(resource);
  return configMaps(parts, scriptFiles(parts)).flatMap(({ metadata, data }) => {
    const bytes = Buffer.byteLength(Object.values(data as Record<string, string>).join(''));
    if (bytes <= MAX_BYTES) return [];
    const remedy = 'put long scripts into a ConfigMap of your own and mount it as a volume';
    return [
      { path: 'spec', what: `makes a ConfigMap ${metadata.name} of more than 1 MiB`, value: bytes, remedy },
    ];
  });
}
