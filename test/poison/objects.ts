/** Short constructors for the corpus. Every pod asks for a tenth of a core, so that whatever can run does run. */
import type { KubeObject } from '../cluster/api';

export type Fields = Readonly<Record<string, unknown>>;

export interface Poison {
  readonly title: string;
  readonly object: KubeObject;
  /** A status that the user writes after the creation. */
  readonly status?: Fields;
}

export const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
/** The largest of int32 and of int64; the second is no number in JavaScript. */
export const INT32 = 2_147_483_647;
export const LONG_NAME = 'a'.repeat(63);
export const LONGEST_NAME = `${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(61)}`;

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
export const record = <T>(count: number, make: (i: number) => readonly [string, T]): Record<string, T> =>
  Object.fromEntries(times(count, make));

export const container = (name: string, more: Fields = {}): Fields => ({
  name,
  image: 'none',
  resources: { requests: { cpu: '100m' } },
  ...more,
});
const requesting = (requests: Fields, limits: Fields = {}) => ({ resources: { requests, limits } });

/** @param metadata more of it, as annotations */
export function job(title: string, pod: Fields = {}, spec: Fields = {}, metadata: Fields = {}): Poison {
  return {
    title,
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: nameOf(title), ...metadata },
      spec: { template: { metadata: { annotations: RUNS }, spec: podSpec(pod) }, ...spec },
    },
  };
}

export function pod(title: string, spec: Fields = {}, metadata: Fields = {}): Poison {
  return {
    title,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: nameOf(title), annotations: RUNS, ...metadata },
      spec: podSpec(spec),
    },
  };
}

export function custom(kind: 'MiniCluster' | 'FluxSetup' | 'FluxJob', title: string, spec: Fields): Poison {
  const apiVersion = {
    MiniCluster: 'flux-framework.org/v1alpha2',
    FluxSetup: 'flux-framework.org/v1alpha1',
    FluxJob: 'jobs.converged-computing.org/v1alpha1',
  }[kind];
  return { title, object: { apiVersion, kind, metadata: { name: nameOf(title) }, spec } };
}

export const annotated = (annotations: Readonly<Record<string, string>>): Fields => ({
  annotations: { ...RUNS, ...annotations },
});

/** Pod fields: one container with these requests; extended resources are limits too. */
export function requests(amounts: Readonly<Record<string, string | number>>): Fields {
  const limits = Object.entries(amounts).filter(([name]) => name.includes('/') || name.includes('hugepages'));
  return { containers: [container('main', requesting(amounts, Object.fromEntries(limits)))] };
}

const RUNS = { 'fluxqueue.test/duration': '300ms' };

function podSpec(more: Fields): Fields {
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    containers: [container('main')],
    ...more,
  };
}

/** A name that Kubernetes accepts. */
function nameOf(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ['poison'];
  return words.join('-').slice(0, 50).replace(/-$/, '');
}
