/**
 * Metadata of all objects of the stack. A *component* is one program of the stack with its objects; a *wave* is Argo CD's
 * order of application; a *layer* is one output file, numbered in the same order for `kubectl apply -f dist/`.
 */
import type { k8s } from 'cdk8s-plus-28';

/**
 * Argo CD applies a wave when the previous one is healthy. An annotation instead of cdk8s dependencies, whose synth time
 * grows exponentially and which renumber the output files.
 */
export enum Wave {
  BASE = -5,
  RIGHTS = -4,
  DATABASE = -3,
  RUNTIME = 0,
  /** After the runtime: a webhook configuration without a healthy webhook blocks the users of the cluster. */
  ADMISSION = 1,
  /** Last, because nothing may wait for a volume or a bucket that does not work, and a dump needs the tables. */
  BACKUP = 2,
}

export type Component =
  | 'base'
  | 'controller'
  | 'webhook'
  | 'reader'
  | 'database'
  | 'backup'
  | 'scheduler'
  | 'admission'
  | 'users';

/** Props of every component of the stack. */
export interface ComponentProps {
  /** Namespace of the stack; cluster-scoped objects refer to its ServiceAccounts. */
  readonly namespace: string;
}

export interface ObjectProps {
  readonly name: string;
  readonly component: Component;
  readonly wave: Wave;
  /** Namespace of the object. @default - the object is cluster-scoped */
  readonly namespace?: string;
  /** Additional labels. @default {} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Additional annotations. @default {} */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Labels for selectors. Selectors are immutable, so the labels contain no version and no construct path. */
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

/**
 * On objects that hold data or records of users, and their namespace: neither engine of GitOps, nor Helm, deletes them when they leave Git,
 * nor when their app is deleted. `fluxqueue uninstall` or a person does (docs/gitops.md).
 */
export const KEEP = {
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'helm.sh/resource-policy': 'keep',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
} as const;

/**
 * On objects whose name has a hash of their content: the engines and Helm leave those of earlier versions, which a rollback needs,
 * and Argo CD does not count them as a difference. They go with the stack.
 */
export const KEEP_OLD = {
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'argocd.argoproj.io/sync-options': 'Prune=false',
  'helm.sh/resource-policy': 'keep',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
} as const;
