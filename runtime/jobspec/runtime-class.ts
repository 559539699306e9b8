/**
 * What a RuntimeClass adds to its pods. The apiserver adds it to pods only, but a gang is planned from the pod template of
 * its Job: without it two pods that fit a node by their containers may not fit it together.
 */
import type { PodSpec, Quantities, Toleration } from './pod';

export interface RuntimeClassFields {
  readonly overhead?: { readonly podFixed?: Quantities };
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
  };
}

/**
 * @param find the RuntimeClass with this name
 * @returns the spec as the apiserver stores it in a pod, without `runtimeClassName`; unchanged if there is no such class
 */
export function withRuntimeClass(
  pod: PodSpec,
  find: (name: string) => RuntimeClassFields | undefined,
): PodSpec {
  const { runtimeClassName, ...spec } = pod;
  const found = runtimeClassName === undefined ? undefined : find(runtimeClassName);
  if (found === undefined) return pod;
  const { nodeSelector, tolerations } = found.scheduling ?? {};
  const overhead = found.overhead?.podFixed ?? spec.overhead;
  return {
    ...spec,
    ...(overhead !== undefined && { overhead }),
    ...(nodeSelector !== undefined && { nodeSelector: { ...spec.nodeSelector, ...nodeSelector } }),
    ...(tolerations !== undefined && { tolerations: [...(spec.tolerations ?? []), ...tolerations] }),
  };
}
