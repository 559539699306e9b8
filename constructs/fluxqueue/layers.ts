import { Chart } from 'cdk8s';
import { type Construct, Dependable, type IConstruct } from 'constructs';
import { STACK_METADATA } from '../api/labels';

/** Output files of the stack in the order of `kubectl apply`. The names are stable: they are file names in users' repositories. */
const LAYERS = {
  base: '0-base',
  rbac: '1-rbac',
  database: '2-database',
  controller: '3-controller',
  webhook: '4-webhook',
  scheduler: '5-scheduler',
  admission: '6-admission',
  reader: '7-reader',
} as const;

export type Layer = keyof typeof LAYERS;

/** The chart around a construct, if there is one. */
export function enclosingChart(construct: IConstruct): Chart | undefined {
  return construct.node.scopes.findLast((scope) => Chart.isChart(scope)) as Chart | undefined;
}

/**
 * Scope of the components of a layer. Outside a chart each layer is a chart, so cdk8s writes it to one file
 * (`fluxqueue-1-rbac.k8s.yaml`). Inside a chart, all components are part of that chart in the same order. The layers have no
 * namespace, because cdk8s would also write it to cluster-scoped objects.
 */
export function layerScope(stack: Construct, layer: Layer): Construct {
  if (enclosingChart(stack) !== undefined) return stack;
  const id = LAYERS[layer];
  return (stack.node.tryFindChild(id) as LayerChart | undefined) ?? new LayerChart(stack, id);
}

class LayerChart extends Chart {
  constructor(stack: Construct, id: string) {
    super(stack, id);
    this.node.addMetadata(STACK_METADATA, true);
    // cdk8s names a file by the path of its chart, and adds a hash to a path of several parts.
    const path = `${stack.node.path.replaceAll('/', '-')}-${id}`;
    Object.defineProperty(this.node, 'path', { value: path });
  }
}

function layerCharts(stack: Construct): Chart[] {
  return stack.node.children.filter((child): child is Chart => Chart.isChart(child));
}

/**
 * Keeps the order of the stack in every app. cdk8s sorts charts, and the objects of a chart, by their dependencies: what
 * something depends on moves before it, and would leave the rest of the stack behind. So a dependency on a part of the stack
 * is one on the whole stack.
 */
export function keepOrder(stack: Construct): void {
  const charts = layerCharts(stack);
  if (charts.length > 0) {
    for (const construct of [stack, ...charts]) Dependable.implement(construct, { dependencyRoots: charts });
    return;
  }
  for (const construct of stack.node.findAll()) Dependable.implement(construct, { dependencyRoots: [stack] });
}

/** Orders the stack after other constructs of the app. */
export function dependOn(stack: Construct, dependencies: readonly IConstruct[]): void {
  const charts = layerCharts(stack);
  for (const construct of charts.length > 0 ? charts : [stack]) construct.node.addDependency(...dependencies);
}
