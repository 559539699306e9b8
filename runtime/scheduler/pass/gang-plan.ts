/**
 * Chooses nodes for the pods of a gang one after the other, as kube-scheduler would: each pod goes to a node that all
 * rules allow beside the pods that are there already. A group of nodes is those with the same value of a label.
 */
import { isAbout, type PodTraits, portsConflict } from '../../jobspec/placement-rules';
import type { GroupRule, PlacementRules } from '../../jobspec/types';
import { type GangNode, Groups } from './groups';
import type { PlacedPods } from './placed-pods';
import { Spread } from './spread';
import { WorkBudget } from './work-budget';

export interface GangRequest {
  /** When its pods come, in Unix seconds. */
  readonly start: number;
  readonly pods: number;
  readonly traits: PodTraits;
  readonly rules: PlacementRules;
}

export interface GangPlan {
  /** Pods by node, in the order of the nodes. */
  readonly pods: ReadonlyMap<string, number>;
  /** Whether all pods have a node. */
  readonly complete: boolean;
  readonly placed: number;
}

/**
 * @param others pods that are on the nodes at the same time
 * @param groups of these nodes, whatever room they have. @default - read from the nodes
 * @param work what the plan may cost. @default - as much as one workload may cost
 * @throws FluxqError `FLUXQ_TOO_COSTLY` if it would cost more
 */
export function planGang(
  gang: GangRequest,
  nodes: readonly GangNode[],
  others: readonly PlacedPods[],
  groups = new Groups(nodes),
  work = new WorkBudget(),
): GangPlan {
  const { apart = [], spread = [] } = gang.rules;
  work.spend(nodes.length + others.length * (1 + apart.length));
  const usable = usableNodes(gang, nodes, others, groups);
  let best: GangPlan = { pods: new Map(), complete: false, placed: 0 };
  for (const candidates of commonGroups(gang, usable, others, groups)) {
    // Each spread counts the pods of all nodes, and each group of candidates is looked through.
    work.spend(candidates.length + spread.length * (nodes.length + others.length));
    const plan = placeOneByOne(gang, candidates, others, nodes, groups, work);
    if (plan.complete) return plan;
    if (plan.placed > best.placed) best = plan;
  }
  return best;
}

/** Nodes without conflict with pods that are there already. */
function usableNodes(
  { traits, rules }: GangRequest,
  nodes: readonly GangNode[],
  others: readonly PlacedPods[],
  groups: Groups,
): GangNode[] {
  const closedPorts = new Set(
    others.filter((pod) => portsConflict(rules, pod.traits.rules)).map(({ node }) => node),
  );
  const closed = new Map<string, Set<string>>();
  const close = (key: string, node: string) => {
    const value = groups.of(node, key);
    if (value !== undefined) closed.set(key, (closed.get(key) ?? new Set()).add(value));
  };
  for (const pod of others) {
    for (const rule of rules.apart ?? []) if (isAbout(rule, pod.traits)) close(rule.topologyKey, pod.node);
    for (const rule of pod.traits.rules?.apart ?? [])
      if (isAbout(rule, traits)) close(rule.topologyKey, pod.node);
  }
  const isClosed = (node: string) =>
    [...closed].some(([key, values]) => values.has(groups.of(node, key) ?? ''));
  return nodes.filter(({ name, room }) => room > 0 && !closedPorts.has(name) && !isClosed(name));
}

/** Groups of nodes of which one has to take the whole gang. */
function* commonGroups(
  gang: GangRequest,
  usable: readonly GangNode[],
  others: readonly PlacedPods[],
  groups: Groups,
): Iterable<readonly GangNode[]> {
  const { jointly = [] } = gang.rules;
  for (const candidates of affineGroups(gang, usable, others, groups)) {
    const key = ({ name }: GangNode) => jointly.map((label) => groups.of(name, label)).join('\n');
    yield* Map.groupBy(candidates, key).values();
  }
}

/**
 * Required affinity: if pods that match all terms run, their groups are the candidates. Else the first pod of a
 * workload that matches its own terms may go anywhere, and the others have to join it: one group at a time is tried.
 */
function* affineGroups(
  { rules: { together = [] } }: GangRequest,
  usable: readonly GangNode[],
  others: readonly PlacedPods[],
  groups: Groups,
): Iterable<readonly GangNode[]> {
  if (together.length === 0) return yield usable;
  const partners = others.filter(
    ({ planned, traits }) => planned !== true && together.every((rule) => isAbout(rule, traits)),
  );
  const labelled = usable.filter(({ name }) =>
    together.every(({ topologyKey }) => groups.of(name, topologyKey) !== undefined),
  );
  if (partners.length > 0) {
    const open = together.map(
      ({ topologyKey }) => new Set(partners.map(({ node }) => groups.of(node, topologyKey))),
    );
    yield labelled.filter(({ name }) =>
      together.every(({ topologyKey }, i) => open[i]!.has(groups.of(name, topologyKey))),
    );
  } else if (together.every(({ self }) => self)) {
    const key = ({ name }: GangNode) =>
      together.map(({ topologyKey }) => groups.of(name, topologyKey)).join('\n');
    yield* Map.groupBy(labelled, key).values();
  }
}

function placeOneByOne(
  { start, pods, rules }: GangRequest,
  candidates: readonly GangNode[],
  others: readonly PlacedPods[],
  nodes: readonly GangNode[],
  groups: Groups,
  work: WorkBudget,
): GangPlan {
  // kube-scheduler counts the pods that are there: those of a reservation for later balance nothing yet.
  const present = others.filter((pods) => pods.start <= start);
  const spreads = (rules.spread ?? []).map((rule) => new Spread(rule, nodes, present, groups, rules.spread!));
  const closing = closingRules(rules, present, groups);
  const lots = [
    ...Map.groupBy(candidates, ({ name }) =>
      spreads.map(({ key }) => groups.of(name, key)).join('\n'),
    ).values(),
  ].map((members) => new Lot(members, closing));
  const chosen = new Map<string, number>();
  let placed = 0;
  for (; placed < pods; placed++) {
    const lot = leastUsed(lots, spreads, work);
    if (lot === undefined) break;
    const node = lot.use();
    work.spend(spreads.length + closing.length);
    for (const rule of [...spreads, ...closing]) rule.place(node);
    chosen.set(node, (chosen.get(node) ?? 0) + 1);
  }
  return { pods: chosen, complete: placed === pods, placed };
}

/** Of the lots that every spread allows, the one with the fewest pods in its groups. */
function leastUsed(lots: Lot[], spreads: readonly Spread[], work: WorkBudget): Lot | undefined {
  // No group has fewer pods than this, so the first such lot is the best.
  const floor = spreads.reduce((sum, spread) => sum + spread.least(), 0);
  let best: number | undefined;
  let least = Infinity;
  for (const [place, lot] of lots.entries()) {
    work.spend(1 + spreads.length);
    const node = lot.next();
    if (node === undefined || !spreads.every((spread) => spread.allows(node))) continue;
    const used = spreads.reduce((sum, spread) => sum + spread.usedBy(node), 0);
    if (used >= least) continue;
    best = place;
    least = used;
    if (used <= floor) break;
  }
  if (best === undefined) return undefined;
  // The next pod finds those that have fewer in front.
  const [chosen] = lots.splice(best, 1);
  lots.splice(spreads.length === 1 && spreads[0]!.isOfItself ? lots.length : best, 0, chosen!);
  return chosen;
}

/** Nodes that are in the same groups of all spreads: to these it is the same which of them is taken. */
class Lot {
  private at = 0;
  private used = 0;

  constructor(
    private readonly members: readonly GangNode[],
    private readonly closing: readonly ClosingRule[],
  ) {}

  /** The node for the next pod. */
  next(): string | undefined {
    for (; this.at < this.members.length; this.at++, this.used = 0) {
      const { name, room } = this.members[this.at]!;
      if (this.used < room && this.closing.every((rule) => rule.allows(name))) return name;
    }
    return undefined;
  }

  /** Takes the node of `next`. */
  use(): string {
    this.used++;
    return this.members[this.at]!.name;
  }
}

/** A rule by which a node that is closed once stays closed. */
interface ClosingRule {
  allows(node: string): boolean;
  /** A pod of the gang goes to this node. */
  place(node: string): void;
}

function closingRules(
  { hostPorts, apart = [], spread = [] }: PlacementRules,
  others: readonly PlacedPods[],
  groups: Groups,
): readonly ClosingRule[] {
  return [
    ...apart.filter(({ self }) => self).map((rule) => new Apart(rule, groups)),
    ...(hostPorts === undefined ? [] : [new MostPerNode(1, [])]),
    // kube-scheduler sees only the node to which the pod is pinned: fewer groups than minDomains, so an empty smallest one.
    ...spread
      .filter(({ self, minDomains }) => self && minDomains !== undefined)
      .map(
        (rule) =>
          new MostPerNode(
            rule.maxSkew,
            others.filter(({ traits }) => isAbout(rule, traits)),
          ),
      ),
  ];
}

/** Anti-affinity of the pods of the gang to each other. */
class Apart implements ClosingRule {
  private readonly taken = new Set<string>();

  constructor(
    private readonly rule: GroupRule,
    private readonly groups: Groups,
  ) {}

  allows(node: string): boolean {
    return !this.taken.has(this.groups.of(node, this.rule.topologyKey) ?? '');
  }

  place(node: string): void {
    const value = this.groups.of(node, this.rule.topologyKey);
    if (value !== undefined) this.taken.add(value);
  }
}

class MostPerNode implements ClosingRule {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly most: number,
    others: readonly PlacedPods[],
  ) {
    for (const { node, count } of others) this.count(node, count);
  }

  allows(node: string): boolean {
    return (this.counts.get(node) ?? 0) < this.most;
  }

  place(node: string): void {
    this.count(node, 1);
  }

  private count(node: string, pods: number): void {
    this.counts.set(node, (this.counts.get(node) ?? 0) + pods);
  }
}
