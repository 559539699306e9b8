/**
 * Which nodes a workload asks for first: those without devices that it does not need, so that these are free for
 * workloads that need them, and among them those of lower weight. It is said with constraints, which every Fluxion
 * server understands, whatever its match policy (docs/decisions/0037-node-preference.md).
 */
import { NODE_WEIGHT_LABEL } from '../../../constructs/api/labels';
import {
  alternatives,
  conjunction,
  EVERY,
  labelProperty,
  narrowedTo,
  resourceOf,
  resourceProperty,
} from '../../jobspec/constraints';
import { canonical } from '../../jobspec/jobspec';
import { matchingNodes } from '../../jobspec/matching-nodes';
import { unitsOfAll } from '../../jobspec/pod-sets';
import type { Constraint, Jobspec } from '../../jobspec/types';
import { unitType } from '../../jobspec/units';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation, GraphNode } from '../../resources/types';
import { type Cluster, clusterOf } from './cluster';
import type { Pass } from './state';

/** The weight of a node without the label. */
const DEFAULT_WEIGHT = 100;
/** Nodes of so many different weights are told apart; all heavier ones are alike. Each costs a match. */
const MOST_WEIGHTS = 8;

const NONE: readonly Jobspec[] = [];

/** The requests to try before the row's own one, best first; none where all nodes are alike to it. */
export function preferredRequests({ input }: Pass, { jobspec }: WorkloadRow): readonly Jobspec[] {
  return input.nodes === undefined ? NONE : preferenceOf(input.nodes).requestsFor(jobspec);
}

/** How many of these requests are better than an allocation: its worst node decides. */
export function rankOf({ input }: Pass, { jobspec }: WorkloadRow, { nodes }: Allocation): number {
  const names = new Set(nodes.map(({ name }) => name));
  return preferenceOf(input.nodes!).rankOf(jobspec, names);
}

const preferences = new WeakMap<readonly GraphNode[], NodePreference>();

function preferenceOf(nodes: readonly GraphNode[]): NodePreference {
  const known = preferences.get(nodes) ?? new NodePreference(nodes);
  preferences.set(nodes, known);
  return known;
}

/** A set of nodes to ask for, each containing the one before. */
interface Choice {
  readonly constraint: Constraint;
  has(node: GraphNode): boolean;
}

/** Requests with the choice that each of them stands for. */
interface Requests {
  readonly jobspecs: readonly Jobspec[];
  readonly choices: readonly Choice[];
}

class NodePreference {
  /** The devices that some nodes have and others do not. */
  private readonly devices: readonly string[];
  private readonly weights: readonly number[];
  private readonly cluster: Cluster;
  private readonly choices = new Map<string, readonly Choice[]>();
  private readonly requests = new WeakMap<Jobspec, Requests>();

  constructor(private readonly nodes: readonly GraphNode[]) {
    this.devices = devicesOf(nodes);
    this.weights = weightsOf(nodes);
    this.cluster = clusterOf(nodes);
  }

  requestsFor(jobspec: Jobspec): readonly Jobspec[] {
    if (this.devices.length === 0 && this.weights.length <= 1) return NONE;
    return this.of(jobspec).jobspecs;
  }

  rankOf(jobspec: Jobspec, names: ReadonlySet<string>): number {
    const used = this.nodes.filter(({ name }) => names.has(name));
    const { choices } = this.of(jobspec);
    const rank = choices.findIndex((choice) => used.every((node) => choice.has(node)));
    return rank === -1 ? choices.length : rank;
  }

  private of(jobspec: Jobspec): Requests {
    const known = this.requests.get(jobspec) ?? this.make(jobspec);
    this.requests.set(jobspec, known);
    return known;
  }

  /** What does not fit the nodes of a choice if they are empty is not asked there. */
  private make(jobspec: Jobspec): Requests {
    const made = this.choicesFor(jobspec).map((choice) => ({
      choice,
      jobspec: narrowedTo(jobspec, choice.constraint),
    }));
    const fitting = made.filter((each) => this.cluster.fits(each.jobspec));
    return {
      jobspecs: fitting.map((each) => each.jobspec),
      choices: fitting.map(({ choice }) => choice),
    };
  }

  /** The devices that the workload does not need. Which ones a ResourceClaim needs is not known. */
  private spareDevices(jobspec: Jobspec): readonly string[] {
    const { unmodeled = [] } = jobspec.attributes.user ?? {};
    if (unmodeled.some((path) => path.endsWith('.resourceClaims'))) return [];
    const wanted = unitsOfAll(jobspec);
    return this.devices.filter((resource) => wanted[unitType(resource) ?? ''] === undefined);
  }

  /** A choice is none if the workload's own constraint leaves it no other nodes: GPU nodes often have a taint. */
  private choicesFor(jobspec: Jobspec): readonly Choice[] {
    const spare = this.spareDevices(jobspec);
    const { constraints = EVERY } = jobspec.attributes.system;
    const key = canonical([spare, constraints]);
    const known = this.choices.get(key);
    if (known !== undefined) return known;
    const own = matchingNodes(constraints, this.nodes);
    const made = this.makeChoices(spare).filter((choice) => !own.every((node) => choice.has(node)));
    this.choices.set(key, made);
    return made;
  }

  /** Nodes without spare devices by weight, then all nodes by weight. The last choice, every node, is left out. */
  private makeChoices(spare: readonly string[]): readonly Choice[] {
    const without = { properties: spare.map((resource) => `^${resourceProperty(resource)}`) };
    const isBare = ({ properties = [] }: GraphNode) =>
      !spare.some((resource) => properties.includes(resourceProperty(resource)));
    const bare = this.nodes.filter(isBare);
    const others = this.nodes.filter((node) => !isBare(node));
    const choices: Choice[] = weightsOf(bare).map((weight) => ({
      constraint: conjunction([without, this.atMost(weight)]),
      has: (node) => isBare(node) && weightOf(node) <= weight,
    }));
    for (const weight of weightsOf(others))
      choices.push({
        constraint: alternatives([without, this.atMost(weight)]),
        has: (node) => isBare(node) || weightOf(node) <= weight,
      });
    return choices.slice(0, -1);
  }

  /** Nodes of at most this weight. A node without the label has not even its key as a property. */
  private atMost(weight: number): Constraint {
    const light = this.nodes.filter((node) => weightOf(node) <= weight);
    if (light.length === this.nodes.length) return EVERY;
    const labels = new Set(light.map((node) => weightProperty(node) ?? `^${NODE_WEIGHT_LABEL}`));
    return alternatives([...labels].map((label) => ({ properties: [label] })));
  }
}

/** A device that every node has says nothing. */
function devicesOf(nodes: readonly GraphNode[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { properties = [] } of nodes)
    for (const property of properties) {
      const resource = resourceOf(property);
      if (resource !== undefined) counts.set(resource, (counts.get(resource) ?? 0) + 1);
    }
  return [...counts]
    .filter(([, count]) => count < nodes.length)
    .map(([resource]) => resource)
    .sort();
}

/** The weights of nodes in ascending order; the last one is that of all heavier nodes, too. */
function weightsOf(nodes: readonly GraphNode[]): readonly number[] {
  const weights = [...new Set(nodes.map(weightOf))].sort((a, b) => a - b);
  return weights.length <= MOST_WEIGHTS ? weights : [...weights.slice(0, MOST_WEIGHTS - 1), Infinity];
}

const WEIGHT_PREFIX = labelProperty(NODE_WEIGHT_LABEL, '');

function weightProperty({ properties = [] }: GraphNode): string | undefined {
  return properties.find((property) => property.startsWith(WEIGHT_PREFIX));
}

function weightOf(node: GraphNode): number {
  const text = weightProperty(node)?.slice(WEIGHT_PREFIX.length) ?? '';
  return /^\d+$/.test(text) ? Number(text) : DEFAULT_WEIGHT;
}
