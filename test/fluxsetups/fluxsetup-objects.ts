/** FluxSetups as the apiserver returns them, for tests. */
import type { FluxSetupObject, FluxSetupSpecJson } from '../../runtime/kubernetes/custom-resources';

export function fluxSetup(
  name: string,
  spec: FluxSetupSpecJson = {},
  metadata: Partial<FluxSetupObject['metadata']> = {},
): FluxSetupObject {
  return {
    metadata: {
      name,
      namespace: 'science',
      uid: `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec,
  };
}
