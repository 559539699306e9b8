/** What users of the cluster may do with the kinds of the stack. */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { FLUXJOB_GROUP, FLUXSETUP_GROUP, MINICLUSTER_GROUP, READ_GROUP } from '../api/labels';
import { PRIORITIZE, PRIORITIZE_ROLE } from '../api/priorities';
import { KubeObject } from '../kube-object';
import { objectMetadata, Wave } from '../metadata';

const RBAC = 'rbac.authorization.k8s.io';

/** Questions to the read API. */
const QUESTIONS: k8s.PolicyRule[] = [
  {
    apiGroups: [READ_GROUP],
    resources: ['histories', 'usages', 'plans', 'priorities', 'nodereports', 'resourcegraphs', 'traces'],
    verbs: ['get', 'list'],
  },
  { apiGroups: [READ_GROUP], resources: ['dashboards/proxy'], verbs: ['get'] },
];

/**
 * Rights of users, aggregated to the ClusterRoles `view` and `edit`. Users who can view a namespace see its FluxJobs,
 * FluxSetups and MiniClusters. Users who can edit it can create any pod in it, so they can also write MiniClusters. Only
 * the controller writes FluxJobs. A FluxSetup is a quota, which Kubernetes reserves for cluster administrators. Nobody has
 * the right to prioritize before an administrator binds its ClusterRole. Questions to the read API follow the same line: in a
 * namespace, what it is asked about is for those who can view it; what nodes and other namespaces do needs a ClusterRoleBinding.
 */
export class UserRoles extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { miniClusters, readApi }: { readonly miniClusters: boolean; readonly readApi: boolean },
  ) {
    super(scope, id);
    const read = ['get', 'list', 'watch'];
    this.add('view', 'fluxqueue-view', [
      { apiGroups: [FLUXJOB_GROUP], resources: ['fluxjobs'], verbs: read },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups'], verbs: read },
      ...(miniClusters ? [{ apiGroups: [MINICLUSTER_GROUP], resources: ['miniclusters'], verbs: read }] : []),
      ...(readApi ? QUESTIONS : []),
    ]);
    const edit = [
      ...(miniClusters
        ? [
            {
              apiGroups: [MINICLUSTER_GROUP],
              resources: ['miniclusters', 'miniclusters/scale'],
              verbs: [...read, 'create', 'update', 'patch', 'delete', 'deletecollection'],
            },
          ]
        : []),
      ...(readApi ? [{ apiGroups: [READ_GROUP], resources: ['whatifs'], verbs: ['create'] }] : []),
    ];
    if (edit.length > 0) this.add('edit', 'fluxqueue-edit', edit);
    const { group, resource, verb } = PRIORITIZE;
    const prioritize = [{ apiGroups: [group], resources: [resource], verbs: [verb] }];
    this.add('prioritize', PRIORITIZE_ROLE, prioritize, {});
  }

  private add(
    role: string,
    name: string,
    rules: k8s.PolicyRule[],
    labels: Record<string, string> = { [`${RBAC}/aggregate-to-${role}`]: 'true' },
  ): void {
    new KubeObject(this, role, k8s.KubeClusterRole, {
      metadata: objectMetadata({ name, component: 'users', wave: Wave.RIGHTS, labels }),
      rules,
    });
  }
}
