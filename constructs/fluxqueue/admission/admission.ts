import { Construct } from 'constructs';
import { PropsError } from '../../api/errors';
import { WEBHOOK_CONFIGURATION, WEBHOOK_SERVICE } from '../../api/labels';
import type { Range } from '../../api/queue-defaults';
import type { ComponentProps } from '../../metadata';
import { ControllerGuard } from './controller-guard';
import { CreatorGuard } from './creators';
import { type AdmissionChoice, type ExternalRuntime, hasForm } from './form';
import { GraceGuard } from './grace-guard';
import { AdmissionGuards } from './guards';
import { KindGuards } from './kind-guards';
import { LeaderWorkerGuard } from './leader-worker-guard';
import { MiniClusterRights } from './minicluster-rights';
import { AdmissionPolicies } from './policies';
import { ReachGuard } from './reach-guard';
import { ReaderGuard } from './reader-guard';
import { SecretGuard } from './secret-guard';
import { AdmissionWebhookConfiguration } from './webhook-configuration';
import { WebhookGuard } from './webhook-guard';

export interface AdmissionProps extends ComponentProps {
  readonly form: AdmissionChoice;
  /** Whether all namespaces are enabled that are not excluded. */
  readonly clusterWide: boolean;
  /** Excluded namespaces besides kube-system and the stack's own. @default - none; with clusterWide: kube-public and kube-node-lease */
  readonly excludedNamespaces?: readonly string[];
  /** User names of engines of GitOps. @default - the usual accounts of Flux CD and Argo CD */
  readonly gitOpsUsers?: readonly string[];
  /** User names of Kueue. @default - none: Jobs with its queue label are refused */
  readonly kueueUsers?: readonly string[];
  /** Scheduler of admitted pods that request none. @default - pods keep their schedulerName */
  readonly schedulerName?: string;
  /** Runtime that is started outside the stack. @default - the runtime runs in the cluster */
  readonly externalRuntime?: ExternalRuntime;
  /** Whether the controller creates the objects of MiniClusters. */
  readonly miniClusters: boolean;
  /** Whether the stack has the reader. */
  readonly readApi: boolean;
  /** Whether the apiserver serves MutatingAdmissionPolicy. */
  readonly mutatingPolicies: boolean;
  /** Kinds that are held by a field of their own. @default - all of constructs/api/workload-kinds.ts */
  readonly workloadKinds?: readonly string[] | undefined;
  /** Priorities that every user may set. @default -100 to 0 */
  readonly userPriorities?: Range;
  /** Longest grace period of a pod in whole seconds. @default 3600 */
  readonly maxGraceSeconds?: number;
  /** Annotations of the webhook configuration. @default - none */
  readonly webhookAnnotations?: Readonly<Record<string, string>>;
  /** The Secret that each ServiceAccount of the stack can create. */
  readonly ownSecrets: Readonly<Record<string, string>>;
}

/** Admission to the queue: the chosen form or forms, and the guards that both forms need. */
export class Admission extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionProps) {
    super(scope, id);
    const { schedulerName, externalRuntime, gitOpsUsers } = props;
    const where = placeOf(props);
    const users = externalRuntime?.users;
    const byUsers = {
      ...where,
      ...(users === undefined ? {} : { controllerUsers: users }),
      ...(gitOpsUsers === undefined ? {} : { gitOpsUsers }),
    };
    const { userPriorities, kueueUsers, maxGraceSeconds } = props;
    const grace = maxGraceSeconds === undefined ? {} : { maxGraceSeconds };
    const byRights = { ...byUsers, ...(userPriorities === undefined ? {} : { userPriorities }) };
    new AdmissionGuards(this, 'guards', {
      ...byRights,
      ...(kueueUsers === undefined ? {} : { kueueUsers }),
      ...grace,
    });
    new KindGuards(this, 'kinds', { ...byRights, ...grace });
    new LeaderWorkerGuard(this, 'leader-worker-sets', { ...byRights, ...grace });
    new GraceGuard(this, 'grace', { ...byUsers, ...grace });
    new CreatorGuard(this, 'creators', byUsers);
    new ReachGuard(this, 'priorities', byRights);
    // It never applies to the users of an external runtime: a developer can be a cluster administrator.
    const { miniClusters, mutatingPolicies } = props;
    new ControllerGuard(this, 'controller', { ...where, miniClusters, mutatingPolicies });
    if (miniClusters) new MiniClusterRights(this, 'rights', byUsers);
    if (props.readApi) new ReaderGuard(this, 'reader-guard', where);
    if (Object.keys(props.ownSecrets).length > 0)
      new SecretGuard(this, 'secrets', { ...where, secrets: props.ownSecrets });
    if (hasForm(props.form, 'policies')) {
      new AdmissionPolicies(this, 'policies', {
        ...byUsers,
        ...(schedulerName === undefined ? {} : { schedulerName }),
      });
    }
    if (hasForm(props.form, 'webhook')) {
      new WebhookGuard(this, 'webhook-guard', where);
      new AdmissionWebhookConfiguration(this, 'webhook', {
        ...byUsers,
        name: WEBHOOK_CONFIGURATION,
        serviceName: WEBHOOK_SERVICE,
        ...(props.webhookAnnotations === undefined ? {} : { annotations: props.webhookAnnotations }),
        ...externalAddress(externalRuntime),
      });
    }
  }
}

/** Namespaces and kinds to which admission applies. */
function placeOf({ namespace, clusterWide, excludedNamespaces, workloadKinds }: AdmissionProps) {
  return {
    stackNamespace: namespace,
    clusterWide,
    ...(excludedNamespaces === undefined ? {} : { excludedNamespaces }),
    workloadKinds,
  };
}

function externalAddress(runtime: ExternalRuntime | undefined): { url?: string; caBundle?: string } {
  if (runtime === undefined) return {};
  if (runtime.webhookUrl === undefined) {
    throw new PropsError(
      'FluxQueue.externalRuntime.webhookUrl',
      'is required, because no webhook runs in the cluster',
      undefined,
      'give the URL of the webhook role, or choose admission: policies',
    );
  }
  return {
    url: runtime.webhookUrl,
    ...(runtime.webhookCa === undefined ? {} : { caBundle: runtime.webhookCa }),
  };
}
