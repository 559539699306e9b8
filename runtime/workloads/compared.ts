/** Operations of a JSON patch that fail if the object is another one than that which was compared. */
import type { ObjectMeta } from '../kubernetes/types';
import type { JsonPatchOperation } from './adapter';

/** Its spec is as it was: whatever its user changes there meanwhile is decided anew. */
export function sameSpec({
  uid,
  generation,
}: Pick<ObjectMeta, 'uid' | 'generation'>): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/generation', value: generation },
  ];
}

/** Its settings are, too, which are labels and annotations. A resourceVersion would also change with each status. */
export function sameTerms(metadata: ObjectMeta): readonly JsonPatchOperation[] {
  const { labels, annotations } = metadata;
  return [
    ...sameSpec(metadata),
    { op: 'test', path: '/metadata/labels', value: labels ?? null },
    { op: 'test', path: '/metadata/annotations', value: annotations ?? null },
  ];
}
