/** Applications of Argo CD. Manifests are applied on the server, because the CRDs are too large for an annotation with their text. */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { checkByRules, group, isObject, type PropRules, required, rule } from '../api/prop-rules';
import { flag, labels, listOf, text } from '../api/rules';

const IN_CLUSTER = 'https://kubernetes.default.svc';

/** What Applications and ApplicationSets have in common. */
export interface ArgoCdSourceProps {
  /** Name of the object. @default - the id of the construct */
  readonly name?: string;
  /** Namespace of Argo CD. @default argocd */
  readonly namespace?: string;
  /** Project of Argo CD; one for each team limits what it may apply, and where. @default default */
  readonly project?: string;
  /** URL of the Git repository. */
  readonly repository: string;
  /** Branch, tag or commit. @default HEAD */
  readonly revision?: string;
  /** Whether Argo CD applies changes by itself, deletes what leaves Git, and undoes changes in the cluster. @default true */
  readonly automated?: boolean;
  /** Options of a sync in addition to `ServerSideApply=true`, e.g. `CreateNamespace=true`. @default - none */
  readonly syncOptions?: readonly string[];
}

export interface ArgoCdApplicationProps extends ArgoCdSourceProps {
  /** Folder of the repository with the manifests, e.g. `dist`. */
  readonly path: string;
  /** Name of the cluster in Argo CD. @default - the cluster of Argo CD */
  readonly cluster?: string;
}

const SOURCE: PropRules<ArgoCdSourceProps> = {
  name: text,
  namespace: text,
  project: text,
  repository: required(text),
  revision: text,
  automated: flag,
  syncOptions: listOf(text),
};
const APPLICATION: PropRules<ArgoCdApplicationProps> = { ...SOURCE, path: required(text), cluster: text };

/** An Application of Argo CD: a folder of a repository in a cluster. */
export class ArgoCdApplication extends Construct {
  /** @throws PropsError for a wrong prop */
  constructor(scope: Construct, id: string, props: ArgoCdApplicationProps) {
    super(scope, id);
    checkByRules('ArgoCdApplication', props, APPLICATION);
    const { path, cluster } = props;
    const destination = cluster === undefined ? { server: IN_CLUSTER } : { name: cluster };
    addObject(this, 'Application', props, specOf(props, path, destination));
  }
}

export interface ArgoCdApplicationSetProps extends ArgoCdSourceProps {
  /** What each Application is for: a folder of the repository, or a cluster of Argo CD. */
  readonly each: FolderGenerator | ClusterGenerator;
}

export interface FolderGenerator {
  /** Folders, also with `*`, e.g. `teams/*`: each gets an Application with the name of the folder. */
  readonly folders: readonly string[];
  /** Folders that get none. @default - none */
  readonly except?: readonly string[];
}

export interface ClusterGenerator {
  /** Labels of clusters in Argo CD: each gets an Application with the name NAME-CLUSTER. */
  readonly clusterLabels: Readonly<Record<string, string>>;
  /** Folder of the repository with the manifests; `{{.name}}` in it is the name of the cluster. */
  readonly path: string;
}

const byFolder = group<FolderGenerator>({ folders: required(listOf(text, 1)), except: listOf(text) });
const byCluster = group<ClusterGenerator>({ clusterLabels: required(labels), path: required(text) });
const APPLICATION_SET: PropRules<ArgoCdApplicationSetProps> = {
  ...SOURCE,
  each: required(
    rule('object', (value) =>
      isObject(value) && 'clusterLabels' in value ? byCluster(value) : byFolder(value),
    ),
  ),
};

/** An ApplicationSet of Argo CD: an Application for each folder of a repository, or for each cluster. */
export class ArgoCdApplicationSet extends Construct {
  /** @throws PropsError for a wrong prop, such as no folder */
  constructor(scope: Construct, id: string, props: ArgoCdApplicationSetProps) {
    super(scope, id);
    checkByRules('ArgoCdApplicationSet', props, APPLICATION_SET);
    const name = props.name ?? id;
    const { generator, title, path, destination } = generated(name, props);
    addObject(this, 'ApplicationSet', props, {
      goTemplate: true,
      goTemplateOptions: ['missingkey=error'],
      generators: [generator],
      template: { metadata: { name: title }, spec: specOf(props, path, destination) },
    });
  }
}

function generated(name: string, { each, repository, revision = 'HEAD' }: ArgoCdApplicationSetProps) {
  if ('clusterLabels' in each)
    return {
      generator: { clusters: { selector: { matchLabels: each.clusterLabels } } },
      title: `${name}-{{.name}}`,
      path: each.path,
      destination: { name: '{{.name}}' },
    };
  const directories = [
    ...each.folders.map((path) => ({ path })),
    ...(each.except ?? []).map((path) => ({ path, exclude: true })),
  ];
  return {
    generator: { git: { repoURL: repository, revision, directories } },
    title: '{{.path.basename}}',
    path: '{{.path.path}}',
    destination: { server: IN_CLUSTER },
  };
}

function specOf(props: ArgoCdSourceProps, path: string, destination: object): object {
  const { project = 'default', repository, revision = 'HEAD', automated = true, syncOptions = [] } = props;
  return {
    project,
    source: { repoURL: repository, path, targetRevision: revision },
    destination,
    syncPolicy: {
      ...(automated ? { automated: { prune: true, selfHeal: true } } : {}),
      syncOptions: ['ServerSideApply=true', ...syncOptions],
    },
  };
}

function addObject(scope: Construct, kind: string, props: ArgoCdSourceProps, spec: object): void {
  const { name = scope.node.id, namespace = 'argocd' } = props;
  new ApiObject(scope, 'Resource', {
    apiVersion: 'argoproj.io/v1alpha1',
    kind,
    metadata: { name, namespace },
    spec,
  });
}
