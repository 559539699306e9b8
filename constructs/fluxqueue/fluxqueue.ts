import { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import {
  CONTROLLER_LEASE,
  SCHEDULER_NAME,
  STACK_NAMESPACE,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  WEBHOOK_SERVICE,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../api/labels';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import { DEFAULT_IMAGES } from '../images';
import { Admission } from './admission/admission';
import type { AdmissionForm } from './admission/form';
import { Base } from './base';
import { Configuration } from './configuration';
import { Controller } from './controller';
import { Crds } from './crds';
import { Database } from './database';
import { checkPositive, checkQueue, queueSettings, userPriorities } from './default-queue';
import { checkFluxion, fluxionImage, fluxionSettings, fluxionSidecar, warnOfLibrary } from './fluxion';
import { grantSettings } from './grant-settings';
import { KubernetesVersion } from './kubernetes-version';
import { type Layer, layerScope } from './layers';
import { NetworkPolicies } from './network-policies';
import type { FluxQueueProps } from './props';
import { ControllerAccount, SchedulerAccount, UserRoles, WebhookAccount } from './rbac';
import { Scheduler } from './scheduler';
import { WEBHOOK_PORT, Webhook } from './webhook';

/**
 * The complete stack: CRDs, RBAC, database, controller with Fluxion, admission. Directly under an App it synthesizes one
 * file per layer; inside a Chart it becomes part of that chart, which must not have a `namespace`.
 */
export class FluxQueue extends Construct {
  /** Namespace of the stack. */
  readonly namespace: string;
  /** Form of admission that the stack uses. */
  readonly admission: AdmissionForm;

  private readonly version: KubernetesVersion | undefined;
  private readonly database: Database;

  /** @throws PropsError when a value is not valid or two props cannot be combined */
  constructor(
    scope: Construct,
    id: string,
    private readonly props: FluxQueueProps = {},
  ) {
    super(scope, id);
    this.namespace = props.namespace ?? STACK_NAMESPACE;
    this.version =
      props.kubernetesVersion === undefined ? undefined : KubernetesVersion.parse(props.kubernetesVersion);
    this.admission = admissionForm(props, this.version);
    this.database = props.database ?? Database.statefulSet();
    checkQueue(props);
    checkReplicas(props);
    checkFluxion(props);
    checkMonitoring(props);
    warnOfLibrary(props);

    new Base(this.layer('base'), 'base', this);
    new Crds(this.layer('base'), 'crds', this.hasMiniClusters ? {} : { without: 'miniclusters.yaml' });
    this.addRights();
    if (props.externalRuntime === undefined && props.networkPolicies !== false) this.addNetworkPolicies();
    if (props.externalRuntime === undefined) this.addRuntime();
    if (props.scheduler === true) this.addScheduler();
    this.addAdmission();
  }

  private get hasMiniClusters(): boolean {
    return this.props.miniClusters ?? true;
  }

  private layer(layer: Layer): Construct {
    return layerScope(this, layer);
  }

  private addRights(): void {
    const scope = this.layer('rbac');
    const { namespace, props, database } = this;
    new ControllerAccount(scope, 'controller-account', {
      namespace,
      miniClusters: this.hasMiniClusters,
      ...(props.externalRuntime === undefined ? { databaseSecret: database.url.name } : {}),
    });
    if (this.admission === 'webhook') {
      new WebhookAccount(scope, 'webhook-account', {
        namespace: this.namespace,
        secretName: WEBHOOK_SECRET,
        configurationName: WEBHOOK_CONFIGURATION,
      });
    }
    new UserRoles(scope, 'user-roles', { miniClusters: this.hasMiniClusters });
  }

  private addRuntime(): void {
    const { namespace, props, database } = this;
    const image = props.runtimeImage ?? DEFAULT_IMAGES.runtime;
    const configuration = new Configuration(this.layer('rbac'), 'configuration', {
      namespace,
      settings: this.settings(),
    });
    if (database.isDeployed) database.render(this.layer('database'), { namespace, runtimeImage: image });
    new Controller(this.layer('controller'), 'controller', {
      namespace,
      image,
      replicas: props.controllerReplicas ?? 2,
      configuration,
      database,
      ...(props.fluxion === 'embedded'
        ? {}
        : { fluxion: fluxionSidecar({ image: fluxionImage(props), configuration }) }),
    });
    if (this.admission === 'webhook') {
      const replicas = props.webhookReplicas ?? 2;
      new Webhook(this.layer('webhook'), 'webhook', { namespace, image, replicas, configuration });
    }
  }

  private addNetworkPolicies(): void {
    const { namespace, props, database, admission } = this;
    const { monitoringNamespace, apiserverPorts, fluxion, scheduler } = props;
    new NetworkPolicies(this.layer('rbac'), 'network-policies', {
      namespace,
      database,
      hasWebhook: admission === 'webhook',
      hasScheduler: scheduler === true,
      hasFluxion: fluxion !== 'embedded',
      ...(monitoringNamespace === undefined ? {} : { monitoringNamespace }),
      ...(apiserverPorts === undefined ? {} : { apiserverPorts }),
    });
  }

  private addScheduler(): void {
    const { namespace, props, version } = this;
    if (version === undefined) {
      throw new PropsError(
        'FluxQueue.scheduler',
        'requires kubernetesVersion, because a scheduler must not be newer than its apiserver',
        true,
        'give kubernetesVersion, or remove scheduler',
      );
    }
    new SchedulerAccount(this.layer('rbac'), 'scheduler-account', this);
    new Scheduler(this.layer('scheduler'), 'scheduler', {
      namespace,
      kubernetesVersion: version,
      replicas: props.controllerReplicas ?? 2,
      ...(props.schedulerImage === undefined ? {} : { image: props.schedulerImage }),
    });
  }

  private addAdmission(): void {
    const { clusterWide, excludedNamespaces, externalRuntime, scheduler, gitOpsUsers } = this.props;
    new Admission(this.layer('admission'), 'admission', {
      namespace: this.namespace,
      ownSecrets: this.ownSecrets(),
      miniClusters: this.hasMiniClusters,
      mutatingPolicies: this.admission === 'policies' || this.version?.hasMutatingPolicies === true,
      userPriorities: userPriorities(this.props),
      form: this.admission,
      clusterWide: clusterWide ?? false,
      ...(excludedNamespaces === undefined ? {} : { excludedNamespaces }),
      ...(gitOpsUsers === undefined ? {} : { gitOpsUsers }),
      ...(scheduler === true ? { schedulerName: SCHEDULER_NAME } : {}),
      ...(externalRuntime === undefined ? {} : { externalRuntime }),
    });
  }

  /** The Secret that each ServiceAccount can create. */
  private ownSecrets(): Record<string, string> {
    const { database, props } = this;
    const { name } = database.url;
    return {
      ...(this.admission === 'webhook' ? { [WEBHOOK_SERVICE_ACCOUNT]: WEBHOOK_SECRET } : {}),
      ...(props.externalRuntime === undefined && database.isDeployed ? { [name]: name } : {}),
    };
  }

  /** The configuration that runtime/config.ts parses; test/constructs/fluxqueue/configuration.test.ts compares the defaults. */
  private settings(): Record<string, unknown> {
    const { props, namespace, database } = this;
    return {
      logLevel: props.logLevel ?? 'info',
      ...(database.hasOwner ? { database: { migrate: false } } : {}),
      leaderElection: { namespace, name: CONTROLLER_LEASE },
      ...(props.monitoringNamespace === undefined ? {} : { metrics: { host: '0.0.0.0' } }),
      fluxion: fluxionSettings(props),
      queue: queueSettings(props),
      fairShare: {
        enabled: props.fairShare ?? false,
        halfLifeSeconds: props.fairShareHalfLife?.toSeconds() ?? STACK_DEFAULTS.halfLifeSeconds,
      },
      grants: grantSettings(props),
      units: unitSettings(props),
      miniClusters: { enabled: this.hasMiniClusters },
      webhook: {
        port: WEBHOOK_PORT,
        secretNamespace: namespace,
        secretName: WEBHOOK_SECRET,
        serviceName: WEBHOOK_SERVICE,
        configurationName: WEBHOOK_CONFIGURATION,
        ...(props.gitOpsUsers === undefined ? {} : { gitOpsUsers: props.gitOpsUsers }),
        ...(props.scheduler === true ? { schedulerName: SCHEDULER_NAME } : {}),
      },
    };
  }
}

function unitSettings({ fluxionEngine, coreUnitMillis, memoryUnit }: FluxQueueProps) {
  const defaults = fluxionEngine === 'library' ? STACK_DEFAULTS.libraryUnits : STACK_DEFAULTS.units;
  return {
    cpuMillis: coreUnitMillis ?? defaults.cpuMillis,
    memoryMiB: memoryUnit?.toMebibytes() ?? defaults.memoryMiB,
  };
}

function checkReplicas(props: FluxQueueProps): void {
  for (const name of ['controllerReplicas', 'webhookReplicas', 'coreUnitMillis'] as const)
    checkPositive(`FluxQueue.${name}`, props[name]);
}

function checkMonitoring({ monitoringNamespace, networkPolicies }: FluxQueueProps): void {
  if (monitoringNamespace === undefined || networkPolicies !== false) return;
  throw new PropsError(
    'FluxQueue.monitoringNamespace',
    'requires networkPolicies, because the metrics have no authentication',
    monitoringNamespace,
    'remove networkPolicies: false, or read the metrics with kubectl port-forward',
  );
}

function admissionForm(props: FluxQueueProps, version: KubernetesVersion | undefined): AdmissionForm {
  const servesPolicies = version?.hasMutatingPolicies === true;
  if (props.admission === 'policies' && version !== undefined && !servesPolicies) {
    throw new PropsError(
      'FluxQueue.admission',
      `requires Kubernetes 1.36 or newer, this cluster has ${version}`,
      'policies',
      'choose webhook, or remove admission',
    );
  }
  return props.admission ?? (servesPolicies ? 'policies' : 'webhook');
}
