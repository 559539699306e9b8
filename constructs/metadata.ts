/**
 * Words of this folder: a *part* is one component of the stack and one file
 * here; a *wave* says what GitOps tools apply before what; a *layer* is one
 * file of output, numbered so that `kubectl apply -f dist/` is in order too.
 */
import type { k8s } from 'cdk8s-plus-28';

/**
 * Argo CD applies a wave when the one before is healthy. An annotation, not a
 * cdk8s dependency: those cost exponentially and renumber the output files.
 */
export enum Wave {
  BASE = -5,
  RIGHTS = -4,
  DATABASE = -3,
  RUNTIME = 0,
  /** After what answers it is healthy: a webhook configuration without its webhook stops the cluster's users. */
  ADMISSION = 1,
}

export type Component = 'base' | 'controller' | 'webhook' | 'database' | 'scheduler' | 'admission' | 'users';

/** What every part is told about the stack it belongs to. */
export interface PartProps {
  /** Namespace of the stack; also on cluster-scoped parts, which name ServiceAccounts in it. */
  readonly namespace: string;
}

export interface ObjectProps {
  readonly name: string;
  readonly component: Component;
  readonly wave: Wave;
  /** @default - cluster-scoped */
  readonly namespace?: string;
  /** @default - only the common labels */
  readonly labels?: Readonly<Record<string, string>>;
  /** @default - only the sync wave */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Selectors are immutable, so they hold what never changes: no version, no path of a construct. */
export function selectorLabels(component: Component): Record<string, string> {
  return { 'app.kubernetes.io/name': 'fluxqueue', 'app.kubernetes.io/component': component };
}

export function objectMetadata(props: ObjectProps): k8s.ObjectMeta {
  return {
    name: props.name,
    ...(props.namespace === undefined ? {} : { namespace: props.namespace }),
    labels: {
      ...selectorLabels(props.component),
      'app.kubernetes.io/part-of': 'fluxqueue',
      ...props.labels,
    },
    annotations: { 'argocd.argoproj.io/sync-wave': String(props.wave), ...props.annotations },
  };
}

/** Argo CD never deletes what users' records and data hang on. */
export const KEEP = { 'argocd.argoproj.io/sync-options': 'Prune=false' } as const;
