/** What each prop of a FluxSetup may be, and each group that the stack's own queue has too. Ranges of numbers: validation.ts. */
import { BACKFILL_ORDERS, FAIR_SHARING, QUEUE_POLICIES } from '../api/policies';
import { group, type PropRules } from '../api/prop-rules';
import { cpu, duration, flag, number, oneOf, size, text } from '../api/rules';
import type { BillingWeights, FluxSetupProps, LendingLimit, Limits, PriorityWeights, Quota } from './props';

const LENDING_RULES: PropRules<LendingLimit> = {
  jobs: number,
  pods: number,
  cores: cpu,
  memory: size,
  gpus: number,
};
export const QUOTA_RULES: PropRules<Quota> = { ...LENDING_RULES, nodes: number };
export const LIMIT_RULES: PropRules<Limits> = { running: number, waiting: number };
export const PRIORITY_WEIGHT_RULES: PropRules<PriorityWeights> = {
  age: number,
  fairShare: number,
  size: number,
  queue: number,
};
export const BILLING_WEIGHT_RULES: PropRules<BillingWeights> = {
  cores: number,
  memory: number,
  gpus: number,
};

export const FLUX_SETUP_RULES: PropRules<FluxSetupProps> = {
  name: text,
  namespace: text,
  policy: oneOf(...QUEUE_POLICIES),
  reservations: number,
  backfillOrder: oneOf(...BACKFILL_ORDERS),
  backfillMaxWait: duration,
  depth: number,
  defaultWalltime: duration,
  maxWalltime: duration,
  minPriority: number,
  maxPriority: number,
  allowStackQueue: flag,
  agingPerHour: number,
  priorityWeights: group(PRIORITY_WEIGHT_RULES),
  quota: group(QUOTA_RULES),
  cohort: text,
  borrowing: group(QUOTA_RULES),
  lendingLimit: group(LENDING_RULES),
  reclaim: flag,
  limits: group(LIMIT_RULES),
  limitsPerUser: group(LIMIT_RULES),
  weight: number,
  billingWeights: group(BILLING_WEIGHT_RULES),
  preempts: flag,
  fairSharing: oneOf(...FAIR_SHARING),
  preemptionMinRuntime: duration,
  preemptionLimit: number,
  requeueLimit: number,
  requeueBackoff: duration,
};
