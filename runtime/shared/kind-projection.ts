/** The part of an object of a workload kind that is kept in memory: what the runtime reads. */
import type { WorkloadKind } from '../../constructs/api/workload-kinds';
import type { InternPool } from '../intern';
import { type KindObject, withTemplates } from '../kubernetes/kind-fields';
import { keptMetadata, keptPodSpec, mapped, pick } from './pod-projection';

export function projectKind(kind: WorkloadKind, object: KindObject, pool: InternPool): KindObject {
  const { metadata, spec, status } = object;
  const { annotations } = metadata;
  const ends = new Set([...kind.ends.Succeeded, ...kind.ends.Failed]);
  const conditions = status?.conditions?.filter(({ type }) => ends.has(type)) ?? [];
  const kept: KindObject = {
    metadata: {
      ...keptMetadata(metadata, pool),
      ...mapped('annotations', annotations && pool.record(annotations)),
    },
    ...mapped('spec', spec),
    ...mapped('status', conditions.length > 0 ? { conditions } : undefined),
  };
  return withTemplates(kind, kept, ({ metadata: of, spec: pod }) => ({
    ...mapped('metadata', of && pick(of, ['labels', 'annotations'])),
    spec: keptPodSpec(pod, pool, pick(pod, ['serviceAccountName'])),
  }));
}
