/**
 * Who may do what. One ServiceAccount per component, rights on our own names
 * where Kubernetes can express it. `create` can't be bound to a name, and who
 * creates Secrets can make himself a token of any ServiceAccount of the
 * namespace: so the stack creates its Secrets empty and the components fill them.
 * They may make one again that somebody deleted, because without it the webhook
 * refuses every Job of its namespaces; what they may make beside it, which is
 * nothing, an admission policy says (admission/secret-guard.ts).
 */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import {
  CONTROLLER_LEASE,
  CONTROLLER_SERVICE_ACCOUNT,
  FLUXJOB_GROUP,
  FLUXSETUP_GROUP,
  MINICLUSTER_GROUP,
  SCHEDULER_SERVICE_ACCOUNT,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../api/labels';
import { type Component, objectMetadata, type PartProps, Wave } from '../metadata';

const RBAC = 'rbac.authorization.k8s.io';

/** Lease of the scheduler's leader election. */
export const SCHEDULER_LEASE = 'fluxqueue-scheduler';

interface AccountProps extends PartProps {
  readonly name: string;
  readonly component: Component;
}

/** A ServiceAccount and the rights it is given. */
class Account extends Construct {
  constructor(
    scope: Construct,
    id: string,
    private readonly props: AccountProps,
  ) {
    super(scope, id);
    new k8s.KubeServiceAccount(this, 'account', {
      metadata: this.metadata(props.namespace),
      automountServiceAccountToken: false,
    });
  }

  /** Rights in the stack's own namespace. */
  allowHere(rules: k8s.PolicyRule[]): void {
    new k8s.KubeRole(this, 'role', { metadata: this.metadata(this.props.namespace), rules });
    this.bindHere('binding', this.props.namespace, { apiGroup: RBAC, kind: 'Role', name: this.props.name });
  }

  /** Rights in every namespace. */
  allowEverywhere(rules: k8s.PolicyRule[]): void {
    new k8s.KubeClusterRole(this, 'cluster-role', { metadata: this.metadata(), rules });
    this.bindEverywhere('cluster-binding', this.props.name, this.props.name);
  }

  bindHere(id: string, namespace: string, roleRef: k8s.RoleRef): void {
    new k8s.KubeRoleBinding(this, id, {
      metadata: this.metadata(namespace),
      roleRef,
      subjects: this.subjects(),
    });
  }

  bindEverywhere(id: string, name: string, clusterRole: string): void {
    new k8s.KubeClusterRoleBinding(this, id, {
      metadata: { ...this.metadata(), name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: clusterRole },
      subjects: this.subjects(),
    });
  }

  private subjects(): k8s.Subject[] {
    return [{ kind: 'ServiceAccount', name: this.props.name, namespace: this.props.namespace }];
  }

  private metadata(namespace?: string): k8s.ObjectMeta {
    const { name, component } = this.props;
    return objectMetadata({
      name,
      component,
      wave: Wave.RIGHTS,
      ...(namespace === undefined ? {} : { namespace }),
    });
  }
}

/**
 * Objects are made by server-side apply, which is `create` and `patch`, and go with their owner. Deleted is a MiniCluster
 * that asked for it, and services that were taken out of one. Secrets are only ever made. What RBAC can't say of this,
 * an admission policy does (admission/controller-guard.ts).
 */
const MINICLUSTER_RULES: k8s.PolicyRule[] = [
  {
    apiGroups: [MINICLUSTER_GROUP],
    resources: ['miniclusters'],
    verbs: ['get', 'list', 'watch', 'delete'],
  },
  { apiGroups: [MINICLUSTER_GROUP], resources: ['miniclusters/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
];

/**
 * Reads nodes, workloads and FluxSetups, releases workloads, keeps FluxJobs and the status of FluxSetups, makes of
 * MiniClusters what they consist of.
 */
export class ControllerAccount extends Construct {
  constructor(scope: Construct, id: string, props: PartProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      ...props,
      name: CONTROLLER_SERVICE_ACCOUNT,
      component: 'controller',
    });
    account.allowEverywhere([
      { apiGroups: [''], resources: ['nodes', 'namespaces'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'patch'] },
      {
        apiGroups: [FLUXJOB_GROUP],
        resources: ['fluxjobs'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      },
      { apiGroups: [FLUXJOB_GROUP], resources: ['fluxjobs/status'], verbs: ['update', 'patch'] },
      { apiGroups: [FLUXJOB_GROUP], resources: ['fluxjobs/finalizers'], verbs: ['update'] },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups/status'], verbs: ['update', 'patch'] },
      {
        apiGroups: ['scheduling.k8s.io'],
        resources: ['priorityclasses'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ...MINICLUSTER_RULES,
    ]);
    account.allowHere(leaseRules(CONTROLLER_LEASE));
  }
}

export interface WebhookAccountProps extends PartProps {
  readonly secretName: string;
  readonly configurationName: string;
}

/** Keeps its certificate and tells the apiserver about it. */
export class WebhookAccount extends Construct {
  constructor(scope: Construct, id: string, props: WebhookAccountProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      namespace: props.namespace,
      name: WEBHOOK_SERVICE_ACCOUNT,
      component: 'webhook',
    });
    account.allowEverywhere([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [props.configurationName],
        verbs: ['get', 'list', 'watch', 'update', 'patch'],
      },
    ]);
    account.allowHere(ownSecret(props.secretName));
  }
}

export interface DatabaseAccountProps extends PartProps {
  /** Name of the account and of the Secret. */
  readonly name: string;
}

/** Puts the generated password into its Secret. */
export class DatabaseAccount extends Construct {
  constructor(scope: Construct, id: string, { namespace, name }: DatabaseAccountProps) {
    super(scope, id);
    new Account(this, 'account', { namespace, name, component: 'database' }).allowHere(ownSecret(name));
  }
}

/** What Kubernetes gives its own scheduler, and a Lease of its own. */
export class SchedulerAccount extends Construct {
  constructor(scope: Construct, id: string, props: PartProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      ...props,
      name: SCHEDULER_SERVICE_ACCOUNT,
      component: 'scheduler',
    });
    for (const role of ['kube-scheduler', 'volume-scheduler']) {
      account.bindEverywhere(role, `${SCHEDULER_SERVICE_ACCOUNT}-as-${role}`, `system:${role}`);
    }
    account.bindHere('authentication', 'kube-system', {
      apiGroup: RBAC,
      kind: 'Role',
      name: 'extension-apiserver-authentication-reader',
    });
    account.allowHere(leaseRules(SCHEDULER_LEASE));
  }
}

/**
 * Whoever may view a namespace sees its FluxJobs, FluxSetups and MiniClusters; whoever may edit it, and so may make any
 * pod in it, makes MiniClusters. Nobody but the controller writes FluxJobs; a FluxSetup is a quota, and Kubernetes leaves
 * quotas to cluster administrators, not to a namespace's own.
 */
export class UserRoles extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const read = ['get', 'list', 'watch'];
    this.add('view', 'fluxqueue-view', [
      { apiGroups: [FLUXJOB_GROUP], resources: ['fluxjobs'], verbs: read },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups'], verbs: read },
      { apiGroups: [MINICLUSTER_GROUP], resources: ['miniclusters'], verbs: read },
    ]);
    this.add('edit', 'fluxqueue-edit', [
      {
        apiGroups: [MINICLUSTER_GROUP],
        resources: ['miniclusters', 'miniclusters/scale'],
        verbs: [...read, 'create', 'update', 'patch', 'delete', 'deletecollection'],
      },
    ]);
  }

  private add(role: string, name: string, rules: k8s.PolicyRule[]): void {
    new k8s.KubeClusterRole(this, role, {
      metadata: objectMetadata({
        name,
        component: 'users',
        wave: Wave.RIGHTS,
        labels: { [`${RBAC}/aggregate-to-${role}`]: 'true' },
      }),
      rules,
    });
  }
}

function leaseRules(name: string): k8s.PolicyRule[] {
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  return [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: [name], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
  ];
}

function ownSecret(name: string): k8s.PolicyRule[] {
  const secrets = { apiGroups: [''], resources: ['secrets'] };
  return [
    { ...secrets, verbs: ['create'] },
    { ...secrets, resourceNames: [name], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
  ];
}
