/**
 * ServiceAccounts and their rights. Each component has its own account, and a rule names the object where Kubernetes can
 * express that. It cannot restrict `create` to a name, and an account that can create any Secret can make itself a token
 * of any ServiceAccount of the namespace. So the stack creates its Secrets empty, and the components fill them. They can
 * also create their Secret again after a user deleted it, because without it the webhook rejects every Job of enabled
 * namespaces; an admission policy restricts that to the Secret of the account (admission/secret-guard.ts).
 * Every verb has a caller in the runtime; test/constructs/fluxqueue/rbac.test.ts finds it.
 */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import {
  CONTROLLER_LEASE,
  CONTROLLER_SERVICE_ACCOUNT,
  FLUXJOB_GROUP,
  FLUXSETUP_GROUP,
  MINICLUSTER_GROUP,
  READ_API_SERVICE,
  READER_SECRET,
  READER_SERVICE_ACCOUNT,
  SCHEDULER_SERVICE_ACCOUNT,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../api/labels';
import { makerKinds, workloadKinds } from '../api/workload-kinds';
import { KubeObject } from '../kube-object';
import { type Component, type ComponentProps, objectMetadata, Wave } from '../metadata';

const RBAC = 'rbac.authorization.k8s.io';

/** Lease of the scheduler's leader election. */
export const SCHEDULER_LEASE = 'fluxqueue-scheduler';

interface AccountProps extends ComponentProps {
  readonly name: string;
  readonly component: Component;
}

/** Role of Kubernetes: the ConfigMap that says how the apiserver names users to other API servers. */
const AUTHENTICATION_READER: k8s.RoleRef = {
  apiGroup: RBAC,
  kind: 'Role',
  name: 'extension-apiserver-authentication-reader',
};

/** A ServiceAccount and its rights. */
class Account extends Construct {
  constructor(
    scope: Construct,
    id: string,
    private readonly props: AccountProps,
  ) {
    super(scope, id);
    new KubeObject(this, 'account', k8s.KubeServiceAccount, {
      metadata: this.metadata(props.namespace),
      automountServiceAccountToken: false,
    });
  }

  /** Grants rights in the namespace of the stack. */
  grantInNamespace(rules: k8s.PolicyRule[]): void {
    new KubeObject(this, 'role', k8s.KubeRole, { metadata: this.metadata(this.props.namespace), rules });
    this.bindInNamespace('binding', this.props.namespace, {
      apiGroup: RBAC,
      kind: 'Role',
      name: this.props.name,
    });
  }

  /** Grants rights in every namespace. */
  grantClusterWide(rules: k8s.PolicyRule[]): void {
    new KubeObject(this, 'cluster-role', k8s.KubeClusterRole, { metadata: this.metadata(), rules });
    this.bindClusterWide('cluster-binding', this.props.name, this.props.name);
  }

  bindInNamespace(id: string, namespace: string, roleRef: k8s.RoleRef): void {
    new KubeObject(this, id, k8s.KubeRoleBinding, {
      metadata: this.metadata(namespace),
      roleRef,
      subjects: this.subjects(),
    });
  }

  bindClusterWide(id: string, name: string, clusterRole: string): void {
    new KubeObject(this, id, k8s.KubeClusterRoleBinding, {
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
 * Server-side apply needs `create` and `patch`; garbage collection deletes the objects with their owner. The controller
 * deletes only finished MiniClusters whose spec asks for it, and services that are no longer in the spec. It creates
 * Secrets and never reads them. A ValidatingAdmissionPolicy adds what RBAC cannot express (admission/controller-guard.ts).
 */
const MINICLUSTER_RULES: k8s.PolicyRule[] = [
  {
    apiGroups: [MINICLUSTER_GROUP],
    resources: ['miniclusters'],
    // A policy lets it patch only one label.
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
  },
  { apiGroups: [MINICLUSTER_GROUP], resources: ['miniclusters/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  // Whose token a report of a lead broker brings.
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list', 'watch', 'create', 'patch'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
];

/** What the graph, the queue and plans are made of. */
const CLUSTER_STATE: k8s.PolicyRule[] = [
  // A label of a namespace may name its queue.
  { apiGroups: [''], resources: ['limitranges', 'namespaces', 'nodes', 'pods'], verbs: ['list', 'watch'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['list', 'watch'] },
  { apiGroups: [FLUXJOB_GROUP], resources: ['fluxjobs'], verbs: ['list', 'watch'] },
  { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups'], verbs: ['list', 'watch'] },
  { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: ['list', 'watch'] },
  { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], verbs: ['list', 'watch'] },
  // Volumes decide on which nodes a pod can run.
  { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: ['list', 'watch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] },
];

/** @param names of constructs/api/workload-kinds.ts */
const kindRules = (names: readonly string[] | undefined, verbs: string[]): k8s.PolicyRule[] =>
  workloadKinds(names).map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs }));

/** Whose objects of those kinds are. */
const makerRules = (names: readonly string[] | undefined): k8s.PolicyRule[] =>
  makerKinds(names).map(({ group, plural }) => ({
    apiGroups: [group],
    resources: [plural],
    verbs: ['list', 'watch'],
  }));

export interface ControllerAccountProps extends ComponentProps {
  /** Kinds that are held by a field of their own. @default - all of constructs/api/workload-kinds.ts */
  readonly workloadKinds?: readonly string[] | undefined;
  /** Secret with the URL of the database. @default - the runtime is external and reads no Secret */
  readonly databaseSecret?: string;
  /** Secret with its CA, if it is another one. */
  readonly databaseCaSecret?: string;
  /** Whether the controller creates the objects of MiniClusters. */
  readonly miniClusters: boolean;
}

/**
 * Account of the controller: it reads nodes, workloads and FluxSetups, releases workloads, writes FluxJobs and the status
 * of FluxSetups, asks by dry runs what pods will be, and creates the objects of MiniClusters.
 */
export class ControllerAccount extends Construct {
  constructor(scope: Construct, id: string, props: ControllerAccountProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      namespace: props.namespace,
      name: CONTROLLER_SERVICE_ACCOUNT,
      component: 'controller',
    });
    account.grantClusterWide([
      { apiGroups: [''], resources: ['limitranges', 'namespaces', 'nodes'], verbs: ['list', 'watch'] },
      // It creates them as a dry run only: a policy restricts it to that (admission/release-guard.ts).
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      // Whether a dry run can say more than a pod template.
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: [
          'mutatingwebhookconfigurations',
          'mutatingadmissionpolicies',
          'mutatingadmissionpolicybindings',
        ],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'patch'] },
      // A policy lets it remove the start time of a suspended Job only (admission/release-guard.ts).
      { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['patch'] },
      // Whether a lost pod is made again, for which its units are kept.
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get'] },
      ...kindRules(props.workloadKinds, ['get', 'list', 'watch', 'patch']),
      ...makerRules(props.workloadKinds),
      {
        apiGroups: [FLUXJOB_GROUP],
        resources: ['fluxjobs'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [FLUXSETUP_GROUP], resources: ['fluxsetups/status'], verbs: ['patch'] },
      { apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'], verbs: ['list', 'watch'] },
      { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], verbs: ['list', 'watch'] },
      // Volumes decide on which nodes a pod can run.
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims', 'persistentvolumes'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] },
      // kube-scheduler says nothing of a pod whose resource claim is missing, and brokers offer the GPUs of claims.
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims', 'resourceclaimtemplates'],
        verbs: ['get'],
      },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['list', 'create', 'patch'] },
      ...(props.miniClusters ? MINICLUSTER_RULES : []),
    ]);
    account.grantInNamespace([
      ...leaseRules(CONTROLLER_LEASE),
      // A candidate sees at once that the Lease was released.
      { ...LEASES, resourceNames: [CONTROLLER_LEASE], verbs: ['list', 'watch'] },
      ...(props.databaseSecret === undefined ? [] : [namedSecret(props.databaseSecret, ['get'])]),
      ...(props.databaseCaSecret === undefined ? [] : [namedSecret(props.databaseCaSecret, ['get'])]),
    ]);
  }
}

export interface WebhookAccountProps extends ComponentProps {
  /** Whether the webhook only reads its certificate from files, and calls no apiserver. */
  readonly hasFiles: boolean;
  readonly secretName: string;
  readonly configurationName: string;
}

/** Account of the webhook: it writes its certificate to its Secret and the CA bundle to its webhook configuration. */
export class WebhookAccount extends Construct {
  constructor(scope: Construct, id: string, props: WebhookAccountProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      namespace: props.namespace,
      name: WEBHOOK_SERVICE_ACCOUNT,
      component: 'webhook',
    });
    if (props.hasFiles) return;
    account.grantClusterWide([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [props.configurationName],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ]);
    account.grantInNamespace(ownSecret(props.secretName, ['get', 'list', 'watch', 'update']));
  }
}

export interface ReaderAccountProps extends ComponentProps {
  /** Kinds that are held by a field of their own. @default - all of constructs/api/workload-kinds.ts */
  readonly workloadKinds?: readonly string[] | undefined;
  /** Secret with the URL of the database. @default - the runtime is external and reads no Secret */
  readonly databaseSecret?: string;
  /** Secret with its CA, if it is another one. */
  readonly databaseCaSecret?: string;
}

/**
 * Account of the reader: it asks the apiserver who users are and what they may do, sees what the controller sees, and writes
 * its certificate to its Secret and the CA bundle to its APIService.
 */
export class ReaderAccount extends Construct {
  constructor(scope: Construct, id: string, props: ReaderAccountProps) {
    super(scope, id);
    const { namespace, databaseSecret, databaseCaSecret } = props;
    const name = READER_SERVICE_ACCOUNT;
    const account = new Account(this, 'account', { namespace, name, component: 'reader' });
    account.grantClusterWide([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      {
        apiGroups: ['apiregistration.k8s.io'],
        resources: ['apiservices'],
        resourceNames: [READ_API_SERVICE],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
      ...CLUSTER_STATE,
      ...kindRules(props.workloadKinds, ['list', 'watch']),
      ...makerRules(props.workloadKinds),
    ]);
    account.bindInNamespace('front-proxy', 'kube-system', AUTHENTICATION_READER);
    account.grantInNamespace([
      ...ownSecret(READER_SECRET, ['get', 'list', 'watch', 'update']),
      ...(databaseSecret === undefined ? [] : [namedSecret(databaseSecret, ['get'])]),
      ...(databaseCaSecret === undefined ? [] : [namedSecret(databaseCaSecret, ['get'])]),
    ]);
  }
}

export interface DatabaseAccountProps extends ComponentProps {
  /** Name of both the account and the Secret. */
  readonly name: string;
}

/** Account of the database's init container: it writes the generated password to its Secret. */
export class DatabaseAccount extends Construct {
  constructor(scope: Construct, id: string, { namespace, name }: DatabaseAccountProps) {
    super(scope, id);
    const account = new Account(this, 'account', { namespace, name, component: 'database' });
    account.grantInNamespace(ownSecret(name, ['get', 'update']));
  }
}

/** Account of the stack's kube-scheduler: the rights of the cluster's scheduler and a separate Lease. */
export class SchedulerAccount extends Construct {
  constructor(scope: Construct, id: string, props: ComponentProps) {
    super(scope, id);
    const account = new Account(this, 'account', {
      ...props,
      name: SCHEDULER_SERVICE_ACCOUNT,
      component: 'scheduler',
    });
    for (const role of ['kube-scheduler', 'volume-scheduler']) {
      account.bindClusterWide(role, `${SCHEDULER_SERVICE_ACCOUNT}-as-${role}`, `system:${role}`);
    }
    account.bindInNamespace('authentication', 'kube-system', AUTHENTICATION_READER);
    account.grantInNamespace(leaseRules(SCHEDULER_LEASE));
  }
}

const LEASES = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };

function leaseRules(name: string): k8s.PolicyRule[] {
  return [
    { ...LEASES, verbs: ['create'] },
    { ...LEASES, resourceNames: [name], verbs: ['get', 'update'] },
  ];
}

function ownSecret(name: string, verbs: string[]): k8s.PolicyRule[] {
  return [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }, namedSecret(name, verbs)];
}

function namedSecret(name: string, verbs: string[]): k8s.PolicyRule {
  return { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs };
}
