/** The part of a PersistentVolumeClaim that is kept in memory: what jobspec/volumes.ts reads. Anybody may write a claim with a megabyte of annotations. */
import type { InternPool } from '../intern';
import type { PersistentVolumeClaim } from '../kubernetes/types';
import { mapped, pick } from './pod-projection';

const METADATA = ['name', 'uid', 'resourceVersion', 'creationTimestamp'] as const;
const SPEC = ['accessModes', 'storageClassName', 'selector'] as const;

export function projectClaim(
  { metadata, spec }: PersistentVolumeClaim,
  pool: InternPool,
): PersistentVolumeClaim {
  const { volumeName, resources } = spec;
  const requests = resources && pick(resources, ['requests']);
  const common = pool.object({ ...pick(spec, SPEC), ...mapped('resources', requests) });
  return {
    metadata: { ...pick(metadata, METADATA), ...mapped('namespace', pool.text(metadata.namespace)) },
    spec: volumeName === undefined ? common : { ...common, volumeName },
  };
}
