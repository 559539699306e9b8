import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';

/** Output files of the stack in the order of `kubectl apply`. The names are stable: they are file names in users' repositories. */
const LAYERS = {
  base: '0-base',
  rbac: '1-rbac',
  database: '2-database',
  controller: '3-controller',
  webhook: '4-webhook',
  scheduler: '5-scheduler',
  admission: '6-admission',
} as const;

export type Layer = keyof typeof LAYERS;

/**
 * Scope of the components of a layer. Directly under an App each layer is a chart, so cdk8s writes it to one file
 * (`fluxqueue-1-rbac.k8s.yaml`). Inside a chart, all components are part of that chart in the same order. The charts are
 * siblings of the stack, because cdk8s numbers the files of nested charts differently. They have no namespace, because
 * cdk8s would also write it to cluster-scoped objects.
 */
export function layerScope(stack: Construct, layer: Layer): Construct {
  const parent = stack.node.scope;
  if (!(parent instanceof App)) return stack;
  const id = `${stack.node.id}-${LAYERS[layer]}`;
  return (parent.node.tryFindChild(id) as Chart | undefined) ?? new Chart(parent, id);
}
