/** The pods of the cluster as passes see them, from the watches. */
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { NO_FACTS } from '../jobspec/constraints';
import { allocatableOf } from '../jobspec/graph-nodes';
import { type PodTraits, placementRulesOf } from '../jobspec/placement-rules';
import { ceilDiv, NANO } from '../jobspec/quantity';
import { podRequests } from '../jobspec/requests';
import { unitType } from '../jobspec/units';
import { kindPodSets } from '../kubernetes/kind-fields';
import type { Job, KubernetesObject, Node, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { Shared } from '../shared/shared';
import { type GrantFacts, isUnmanaged } from '../shared/unmanaged';
import type { PlacedPods, Surroundings } from './pass/placed-pods';

type Amounts = Readonly<Record<string, number>>;

type Watched = Pick<Shared, 'informers' | 'workloads' | 'podFacts'> & GrantFacts;

export class ClusterSurroundings implements Surroundings {
  /** What is read of an object is kept with it. */
  private readonly traits = new WeakMap<Pod, PodTraits>();
  private readonly amounts = new WeakMap<Node, Amounts>();

  constructor(private readonly shared: Watched) {}

  unmanaged(): readonly PlacedPods[] {
    return this.shared.informers.pods.list().flatMap((pod) => this.placed(pod));
  }

  repelling(): readonly PlacedPods[] {
    return this.shared.informers.pods.byIndex('repelling', 'true').flatMap((pod) => this.placed(pod));
  }

  readonly unmanagedOn = (node: string): number =>
    this.shared.informers.pods.byIndex('node', node).filter((pod) => isUnmanaged(pod, this.shared)).length;

  /** Labels of the object that was queued; without labels if it is gone. */
  readonly traitsOf = (row: WorkloadRow): PodTraits => {
    const rules = row.jobspec.attributes.user?.placement;
    return {
      namespace: row.namespace,
      labels: podLabels(row.kind, this.shared.workloads.get(row)),
      ...(rules === undefined ? {} : { rules }),
    };
  };

  readonly amountsOf = (name: string): Amounts => {
    const node = this.shared.informers.nodes.get(name);
    if (node === undefined) return {};
    const known = this.amounts.get(node) ?? amountsOf(node);
    this.amounts.set(node, known);
    return known;
  };

  private placed(pod: Pod): readonly PlacedPods[] {
    const node = this.shared.podFacts.usedNode(pod);
    if (node === undefined || !isUnmanaged(pod, this.shared)) return [];
    const traits = this.traits.get(pod) ?? traitsOfPod(pod);
    this.traits.set(pod, traits);
    return [{ traits, node, count: 1, start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }];
  }
}

function traitsOfPod({ metadata: { namespace = '', labels = {} }, spec }: Pod): PodTraits {
  const self = { namespace, labels };
  const rules = placementRulesOf(spec, podRequests(spec), self, NO_FACTS);
  return { ...self, ...(rules === undefined ? {} : { rules }) };
}

/** Resources of the node that are not units of the graph. */
function amountsOf(node: Node): Amounts {
  const counted = [...allocatableOf(node)].filter(([resource]) => unitType(resource) === undefined);
  return Object.fromEntries(
    counted.map(([resource, quantity]) => [resource, Number(ceilDiv(quantity, NANO))]),
  );
}

/** Labels that the pods of an object have; those of several pod sets are in the jobspec. */
function podLabels(kind: string, object: KubernetesObject | undefined): PodTraits['labels'] {
  const held = WORKLOAD_KINDS.find((each) => each.kind === kind);
  if (object === undefined) return {};
  if (held !== undefined) return kindPodSets(held, object)[0]?.template?.metadata?.labels ?? {};
  const { metadata } = kind === 'Job' ? (object as Job).spec.template : object;
  return metadata?.labels ?? {};
}
