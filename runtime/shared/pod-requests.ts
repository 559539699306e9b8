import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../kubernetes/types';

/** Whether the pods of two events request the same: requests can be changed while a pod runs. */
export function requestsEqual({ spec: a }: Pod, { spec: b }: Pod): boolean {
  const parts = ({ containers, initContainers, resources, overhead }: Pod['spec']) => [
    [...containers, ...(initContainers ?? [])].map((container) => container.resources),
    resources,
    overhead,
  ];
  return a === b || isDeepStrictEqual(parts(a), parts(b));
}
