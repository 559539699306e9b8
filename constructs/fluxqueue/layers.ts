import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';

/** The stack's files of output in the order in which they are applied. Names and numbers stay: they are file names in users' repositories. */
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
 * Where the parts of a layer go. Right under an App each layer becomes a chart
 * and so a file (`fluxqueue-1-rbac.k8s.yaml`); inside a chart everything stays
 * in that chart, in the same order. The charts are siblings of the stack and
 * have no namespace: nested charts get renumbered file names, and a chart's
 * namespace would be written on cluster-scoped objects too.
 */
export function layerScope(stack: Construct, layer: Layer): Construct {
  const parent = stack.node.scope;
  if (!(parent instanceof App)) return stack;
  const id = `${stack.node.id}-${LAYERS[layer]}`;
  return (parent.node.tryFindChild(id) as Chart | undefined) ?? new Chart(parent, id);
}
