/** The pod sets of a request as the rule planner places them, and the parts of an allocation that it makes of them. */
import { type Ask, askOf } from '../../jobspec/jobspec';
import { isAbout, type PodTraits } from '../../jobspec/placement-rules';
import { podSetsOf } from '../../jobspec/pod-sets';
import type { GroupRule, Jobspec, PlacementRules } from '../../jobspec/types';
import { formatIdset, parseIdset } from '../../resources/idset';
import type { AllocatedNode } from '../../resources/types';
import { traitsOfSet } from './placed-pods';

/** One pod set of a request. */
export interface PodSetPlanned {
  readonly name: string;
  readonly jobspec: Jobspec;
  readonly ask: Ask;
  readonly rules: PlacementRules;
  readonly traits: PodTraits;
  /** Whether its pods need pods that are there before them. */
  readonly follows: boolean;
}

/** Units of one node for pods of one pod set. */
export interface SetPart {
  readonly set: string;
  readonly pods: number;
  readonly part: AllocatedNode;
}

/** @param traits of its pods, if it has one pod set */
export function podSetRequests(jobspec: Jobspec, traits: PodTraits): readonly PodSetPlanned[] {
  const sets = podSetsOf(jobspec)?.map((set) => ({ ...set, traits: traitsOfSet(set) }));
  return (sets ?? [{ name: '', jobspec, traits }]).map((set) => {
    const { rules = {} } = set.traits;
    const follows = rules.together?.some(({ self }) => !self) === true;
    return { ...set, rules, ask: askOf(set.jobspec), follows };
  });
}

/** Without the required affinity to pods that are none of the gang: these may come. */
export function withinGang({ rules }: PodSetPlanned, sets: readonly PodSetPlanned[]): PlacementRules {
  const { together = [], ...others } = rules;
  const isOwn = (rule: GroupRule) => rule.self || sets.some(({ traits }) => isAbout(rule, traits));
  return together.every(isOwn) ? rules : others;
}

/** One part for each node. That of a gang of several pod sets says how many pods of each it is for. */
export function mergedParts(parts: readonly SetPart[]): readonly AllocatedNode[] {
  if (parts.every(({ set }) => set === '')) return parts.map(({ part }) => part);
  return [...Map.groupBy(parts, ({ part }) => part.name)].map(([name, all]) => {
    const types = new Set(all.flatMap(({ part }) => Object.keys(part.units)));
    const units = [...types].map((type) => {
      const ids = all.flatMap(({ part }) => parseIdset(part.units[type] ?? ''));
      return [type, formatIdset(ids)] as const;
    });
    const podSets = Object.fromEntries(all.map(({ set, pods }) => [set, pods]));
    const isWhole = all.some(({ part }) => part.exclusive === true);
    return { name, units: Object.fromEntries(units), ...(isWhole && { exclusive: true }), podSets };
  });
}
