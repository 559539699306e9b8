/** The specs of pods that users create. */
import type { Pod } from '../../runtime/kubernetes/types';

export function podSpec(cores: number): Pod['spec'] {
  const requests = { cpu: String(cores) };
  const containers = [{ name: 'main', image: 'none', resources: { requests } }];
  return { restartPolicy: 'Never', containers };
}

/** Of a pod that requests nothing. */
export const EMPTY_SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };
