/**
 * What may change pods as they are created, beside the queue: webhooks and policies of the cluster. It is watched, so that
 * a dry run is made only where one of them may add something, and again when one of them has changed.
 */

import { PART_OF, STACK } from '../../constructs/api/labels';
import type { Time } from '../clock';
import { selects } from '../jobspec/label-selector';
import type { LabelSelector } from '../jobspec/pod';
import type { KubernetesClient } from '../kubernetes/client';
import { type Change, Informer } from '../kubernetes/informer';
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
} from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import { Signal } from '../signal';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
}

/** The requests about which a webhook or a policy is asked. @default - those of all namespaces */
interface Matched {
  readonly namespaceSelector?: LabelSelector;
}

export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly (Matched & { readonly rules?: readonly Rule[] })[];
}

export interface MutatingPolicy extends KubernetesObject {
  readonly spec: { readonly matchConstraints?: Matched & { readonly resourceRules?: readonly Rule[] } };
}

export interface PolicyBinding extends KubernetesObject {
  readonly spec: { readonly policyName?: string; readonly matchResources?: Matched };
}

interface MutatingAdmissionOptions {
  readonly client: KubernetesClient;
  readonly logger: Logger;
  readonly time: Time;
  /** The labels of this namespace; undefined if they are not known. */
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
}

/** Milliseconds. A cluster without policies is asked for them once a minute. */
const BACKOFF = { first: 500, most: 60_000 };
/** Milliseconds until every apiserver surely goes by a change that the watch has shown. */
const SETTLING_MS = 10_000;

const SETTLING = ' settling';

/** What a version says, whether it is new or not. */
export function stateIn(version: string | undefined): string | undefined {
  return version?.replace(SETTLING, '');
}

export class MutatingAdmission {
  /** Other webhooks or policies than before may change pods. */
  readonly changed = new Signal();
  private readonly webhooks: Informer<WebhookConfiguration>;
  private readonly policies: Informer<MutatingPolicy>;
  private readonly bindings: Informer<PolicyBinding>;
  private settlesAt = Number.NEGATIVE_INFINITY;
  private cancelSettling: () => void = () => undefined;

  constructor(private readonly options: MutatingAdmissionOptions) {
    const { client, logger, time } = options;
    const { clock, random } = time;
    // A cluster may not serve policies, and the rights may be those of an earlier version of the stack.
    const common = { client, logger, clock, random, backoff: BACKOFF, dispensable: true };
    this.webhooks = new Informer<WebhookConfiguration>({
      ...common,
      path: mutatingWebhookConfigurations(),
      // Certificates are most of it.
      project: ({ metadata, webhooks = [] }) => ({
        metadata,
        webhooks: webhooks.map(({ rules = [], namespaceSelector = {} }) => ({ rules, namespaceSelector })),
      }),
    });
    this.policies = new Informer<MutatingPolicy>({ ...common, path: mutatingAdmissionPolicies() });
    this.bindings = new Informer<PolicyBinding>({ ...common, path: mutatingAdmissionPolicyBindings() });
    const report = ({ now, before }: Change<KubernetesObject>) => {
      if (!isOfTheStack((now ?? before)!)) this.settle();
    };
    for (const informer of this.watches) informer.changed.subscribe(report);
  }

  start(): void {
    for (const informer of this.watches) informer.start();
  }

  stop(): void {
    this.cancelSettling();
    for (const informer of this.watches) informer.stop();
  }

  /** Whether each of the lists was read once, or cannot be read. */
  get isKnown(): boolean {
    return this.watches.every(({ lastSync }) => lastSync !== undefined);
  }

  /**
   * Another text for each state of what may change new pods of this namespace; undefined if nothing does. A state that is new has
   * a text of its own for a while: what an apiserver answers meanwhile may still be by the one before.
   */
  versionFor(namespace: string): string | undefined {
    const labels = this.options.labelsOf(namespace);
    const reaches = ({ namespaceSelector = {} }: Matched = {}) =>
      labels === undefined || selects(namespaceSelector, labels);
    const webhooks = this.webhooks
      .list()
      .filter(({ webhooks = [] }) => webhooks.some((one) => reaches(one) && matchesPods(one.rules)));
    const policies = new Map(
      this.policies
        .list()
        .filter(
          ({ spec: { matchConstraints: given } }) => reaches(given) && matchesPods(given?.resourceRules),
        )
        .map((policy) => [policy.metadata.name, policy]),
    );
    const bindings = this.bindings
      .list()
      .filter(({ spec }) => policies.has(spec.policyName ?? '') && reaches(spec.matchResources));
    const bound = bindings.map(({ spec }) => policies.get(spec.policyName ?? '')!);
    const all = [...webhooks, ...new Set(bound), ...bindings].filter((object) => !isOfTheStack(object));
    if (all.length === 0) return undefined;
    const isSettling = this.options.time.clock.now() < this.settlesAt;
    return `${all.map(stateOf).sort().join(' ')}${isSettling ? SETTLING : ''}`;
  }

  /** What is listed first is in force already. */
  private settle(): void {
    if (this.isKnown) {
      const { clock } = this.options.time;
      this.settlesAt = clock.now() + SETTLING_MS;
      this.cancelSettling();
      this.cancelSettling = clock.after(SETTLING_MS, () => this.changed.emit());
    }
    this.changed.emit();
  }

  private get watches() {
    return [this.webhooks, this.policies, this.bindings] as const;
  }
}

function stateOf({ metadata: { uid, generation = 0 } }: KubernetesObject): string {
  return `${uid}/${generation}`;
}

/** The queue's own admission adds nothing that a pod requests. */
function isOfTheStack({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[PART_OF] === STACK;
}

function matchesPods(rules: readonly Rule[] = []): boolean {
  return rules.some(
    ({ apiGroups = [], operations = [], resources = [] }) =>
      includes(apiGroups, '') && includes(operations, 'CREATE') && includes(resources, 'pods', '*/*'),
  );
}

function includes(list: readonly string[], ...wanted: readonly string[]): boolean {
  return ['*', ...wanted].some((each) => list.includes(each));
}
