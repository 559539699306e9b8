/**
 * What is wrong with a resource, all of it at once. The schema's half comes
 * from the CRD; the other files check-*.ts have what the CRD says in CEL, in
 * the same words, and what only rendering knows.
 */

import { configMaps, scriptFiles } from './config-maps';
import { type Parts, takeApart } from './context';
import type { MiniClusterResource } from './resource';
import { SPEC_SCHEMA } from './schema';
import { clusterProblems } from './validate-cluster';
import { containerProblems } from './validate-container';
import { nameProblems, sharedNameProblems } from './validate-names';
import { schemaCheck } from './validate-schema';
import type { Problem } from './validation-issue';

/** Every problem; none: it can be rendered, and the apiserver takes what comes out. */
export function checkMiniCluster(resource: MiniClusterResource): readonly Problem[] {
  return examine(resource).problems;
}

export interface Examined {
  readonly problems: readonly Problem[];
  /** Taken apart on the way; undefined when it can't be. */
  readonly parts?: Parts;
}

export function examine(resource: MiniClusterResource): Examined {
  const byShape = shapeProblems(resource);
  // The rest reads fields and trusts their types.
  if (byShape.some(({ unreadable }) => unreadable)) return { problems: byShape };
  const parts = takeApart(resource);
  const together = partsProblems(parts);
  if (byShape.length === 0) return { problems: together, parts };
  // What is refused already needs no second reason.
  const refused = new Set(byShape.map(({ path }) => path));
  return { problems: [...byShape, ...together.filter(({ path }) => !refused.has(path))], parts };
}

const specProblems = schemaCheck(SPEC_SCHEMA);

/** What is wrong with a field by itself. */
function shapeProblems(resource: MiniClusterResource): Problem[] {
  return [...nameProblems(resource), ...specProblems(resource.spec, 'spec')];
}

/** What is wrong although every field by itself is right. */
function partsProblems(parts: Parts): Problem[] {
  const { containers, services = [] } = parts.spec;
  return [
    clusterProblems(parts),
    containers.flatMap((each, index) => containerProblems(each, `spec.containers[${index}]`)),
    services.flatMap((each, index) => containerProblems(each, `spec.services[${index}]`)),
    sharedNameProblems(parts),
    fileProblems(parts),
  ].flat();
}

/** What etcd takes. */
const MAX_BYTES = 1024 * 1024;
/** So much text of users' can't make so much of files. */
const HARMLESS = MAX_BYTES / 8;

function fileProblems(parts: Parts): Problem[] {
  if (textLength(parts) < HARMLESS) return [];
  return configMaps(parts, scriptFiles(parts)).flatMap(({ metadata, data }) => {
    const bytes = Buffer.byteLength(Object.values(data as Record<string, string>).join(''));
    if (bytes <= MAX_BYTES) return [];
    const remedy = 'put long scripts into a ConfigMap of your own and mount it as a volume';
    return [
      { path: 'spec', what: `makes a ConfigMap ${metadata.name} of more than 1 MiB`, value: bytes, remedy },
    ];
  });
}

/** Of the texts of users that end up in files. */
function textLength({ spec: { containers, flux } }: Parts): number {
  let length = (flux.brokerConfig ?? '').length;
  for (const text of Object.values(flux.environment ?? {})) length += text.length;
  for (const { command = '', commands = {} } of containers) {
    length += command.length;
    for (const text of Object.values(commands)) length += text.length;
  }
  return length;
}
