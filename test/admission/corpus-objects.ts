/** Objects of the corpus, and the outcome that admission must give them. */
import type { KubeObject } from '../cluster/api';

/** What admission does with an object. */
export type ExpectedOutcome =
  | { readonly is: 'untouched' | 'suspended' | 'held' | 'gated' }
  /** Gated, as a member of this group. */
  | { readonly is: 'grouped'; readonly group: string; readonly size: string }
  /** Left alone, but for the user of its pods. */
  | { readonly is: 'noted'; readonly queuedBy?: 'kueue' }
  /** Pinned to the node in this number of terms; `keeps` is the trimmed assignment if admission trims it. */
  | { readonly is: 'pinned'; readonly node: string; readonly terms: number; readonly keeps?: string }
  /** Denied by the rules of admission. */
  | { readonly is: 'denied'; readonly code: string; readonly field: string }
  /** Rejected by the validation of Kubernetes in both forms. */
  | { readonly is: 'invalid' };

export interface Entry {
  readonly title: string;
  readonly object: KubeObject;
  readonly expectedOutcome: ExpectedOutcome;
  /** The user who creates the object. @default - a cluster administrator */
  readonly as?: string;
}

/** The user behind the administrator's token of the test cluster. */
export const ADMIN = 'admin';

/** The user annotation of a workload that this user creates; undefined for a controller. */
export function userOf(as: string): string | undefined {
  return as.startsWith('system:') && !as.startsWith('system:serviceaccount:science:') ? undefined : as;
}

export const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller';
/** They make pods, too. */
export const OTHER_CONTROLLERS = [
  'replicaset-controller',
  'cronjob-controller',
  'statefulset-controller',
].map((name) => `system:serviceaccount:kube-system:${name}`);
export const DAEMONSET_CONTROLLER = 'system:serviceaccount:kube-system:daemon-set-controller';

export const CONTAINER = { name: 'main', image: 'busybox' };
export type Fields = Record<string, unknown>;

export function job(spec: Fields = {}, metadata: Fields = {}, template: Fields = {}): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'job-', ...metadata },
    spec: { ...spec, template: { ...template, spec: { restartPolicy: 'Never', containers: [CONTAINER] } } },
  };
}

export function pod(spec: Fields = {}, metadata: Fields = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'pod-', ...metadata },
    spec: { containers: [CONTAINER], ...spec },
  };
}

export const owner = (apiVersion: string, kind: string, controller = true) => ({
  apiVersion,
  kind,
  name: 'owner',
  uid: '6f1d2a0e-0000-4000-8000-000000000001',
  controller,
});

/** Metadata of what a controller made. */
export const ownedBy = (apiVersion: string, kind: string) => ({ ownerReferences: [owner(apiVersion, kind)] });

export const untouched = { is: 'untouched' } as const;
export const noted = { is: 'noted' } as const;
export const ofKueue = { is: 'noted', queuedBy: 'kueue' } as const;
export const suspended = { is: 'suspended' } as const;
export const held = { is: 'held' } as const;
export const gated = { is: 'gated' } as const;
export const invalid = { is: 'invalid' } as const;
/** @param index the pod's index, to which admission trims the assignment; without it the assignment does not change */
export const pinned = (node: string, index?: number, terms = 1): ExpectedOutcome => ({
  is: 'pinned',
  node,
  terms,
  ...(index === undefined ? {} : { keeps: `${index}/1:${node}` }),
});
export const entry = (
  title: string,
  object: KubeObject,
  expectedOutcome: ExpectedOutcome,
  as?: string,
): Entry => ({
  title,
  object,
  expectedOutcome,
  ...(as === undefined ? {} : { as }),
});

export const required = (...nodeSelectorTerms: Fields[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
export const onZone = (zone: string) => ({ key: 'zone', operator: 'In', values: [zone] });
