import { ApiObject } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { PropsError } from '../api/errors';
import {
  READER_SECRET,
  READER_SERVICE_ACCOUNT,
  SCHEDULER_NAME,
  STACK_METADATA,
  STACK_NAMESPACE,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../api/labels';
import { DEFAULT_IMAGES } from '../images';
import { whenKnown } from '../lazy';
import { Admission } from './admission/admission';
import { type AdmissionChoice, hasForm } from './admission/form';
import { Base } from './base';
import { caInjection } from './certificates';
import { Configuration } from './configuration';
import { Controller } from './controller';
import { Crds } from './crds';
import { Database } from './database';
import { FlowSchemas } from './flow-schemas';
import { fluxionImage, fluxionSidecar, warnOfLibrary } from './fluxion';
import { userLimits } from './grant-settings';
import { KubernetesVersion } from './kubernetes-version';
import { dependOn, keepOrder, type Layer, layerScope } from './layers';
import { Monitoring, PodRecommendations } from './monitoring';
import { NetworkPolicies } from './network-policies';
import { checkChart, checkOnlyStack, checkStackNamespace } from './place';
import type { Absence } from './pods/checks';
import { ImageNames } from './pods/images';
import { added } from './pods/merge';
import { Pods } from './pods/pods';
import type { PodsProps } from './pods/props';
import type { FluxQueueProps } from './props';
import { ControllerAccount, ReaderAccount, SchedulerAccount, WebhookAccount } from './rbac';
import { OutsideReader, ReadApi, Reader } from './reader';
import { Scheduler } from './scheduler';
import { stackSettings } from './settings';
import { checkedProps, checkProps, checkWhenKnown } from './stack-checks';
import { UserRoles } from './user-roles';
import { Webhook } from './webhook';

/**
 * The complete stack: CRDs, RBAC, database, controller with Fluxion, admission. Outside a Chart it synthesizes one file per
 * layer; inside a Chart it becomes part of that chart, which must not have a `namespace`. All names are independent of the
 * place and the id of the construct, except those of the files.
 */
export class FluxQueue extends Construct {
  /** Namespace of the stack. */
  readonly namespace: string;
  /** Form of admission that the stack uses. */
  readonly admission: AdmissionChoice;

  /** Name of the cluster, if the app writes the stacks of several clusters. */
  readonly cluster: string | undefined;

  private readonly props: FluxQueueProps;
  private readonly version: KubernetesVersion | undefined;
  private readonly database: Database;
  private readonly pods: Pods;

  /** @throws PropsError when a value is not valid or two props cannot be combined */
  constructor(scope: Construct, id: string, given: FluxQueueProps = {}) {
    super(scope, id);
    const props = checkedProps(given);
    this.props = props;
    this.node.addMetadata(STACK_METADATA, true);
    this.cluster = props.cluster;
    this.namespace = props.namespace ?? STACK_NAMESPACE;
    checkStackNamespace(this.namespace);
    checkChart(this);
    checkOnlyStack(this, (construct): construct is FluxQueue => construct instanceof FluxQueue);
    this.version =
      props.kubernetesVersion === undefined ? undefined : KubernetesVersion.parse(props.kubernetesVersion);
    this.admission = admissionForm(props, this.version);
    this.database = props.database ?? Database.statefulSet();
    const absence = (component: keyof PodsProps) => this.absence(component);
    checkWhenKnown(this, props, (known) => checkProps(known, this.hasWebhook, absence));
    warnOfLibrary(props);
    const { pods = {}, labels = {} } = props;
    const images = new ImageNames(props.images ?? {});
    this.pods = new Pods({ pods, images, pullSecrets: props.images?.pullSecrets ?? [], labels });
    this.addComponents();
    images.checkUsed();
    this.addMetadata();
    keepOrder(this);
  }

  /** Orders the stack after other constructs of the app. */
  addDependency(...dependencies: IConstruct[]): void {
    dependOn(this, dependencies);
  }

  private addComponents(): void {
    const { props } = this;
    new Base(this.layer('base'), 'base', this);
    new Crds(this.layer('base'), 'crds', this.hasMiniClusters ? {} : { without: 'miniclusters.yaml' });
    this.addRights();
    if (props.externalRuntime === undefined && props.flowSchemas !== false)
      new FlowSchemas(this.layer('rbac'), 'flow-schemas', this);
    if (props.externalRuntime === undefined && props.networkPolicies !== false) this.addNetworkPolicies();
    const configuration = props.externalRuntime === undefined ? this.addRuntime() : undefined;
    this.addMonitoring();
    if (props.scheduler === true) this.addScheduler();
    this.addAdmission();
    if (this.hasReader) this.addReader(configuration);
  }

  private addMetadata(): void {
    const { labels, annotations } = this.props;
    for (const object of this.node.findAll().filter(ApiObject.isApiObject)) {
      const own = object.metadata.toJson() as { labels?: object; annotations?: object };
      added({ ...own.labels }, labels, 'FluxQueue.labels');
      added({ ...own.annotations }, annotations, 'FluxQueue.annotations');
      for (const [key, value] of Object.entries(labels ?? {})) object.metadata.addLabel(key, value);
      for (const [key, value] of Object.entries(annotations ?? {})) object.metadata.addAnnotation(key, value);
    }
  }

  /** Why the stack has no pods of a component, and the remedy. */
  private absence(component: keyof PodsProps): Absence {
    const { props, database } = this;
    if (component === 'scheduler')
      return props.scheduler === true
        ? undefined
        : ['requires scheduler: true', 'remove it, or give scheduler: true'];
    if (props.externalRuntime !== undefined)
      return ['has no effect, because externalRuntime leaves out these pods', 'remove one of the two'];
    if (component === 'reader' && !this.hasReader)
      return ['requires the read API', 'remove it, or remove readApi: false'];
    if (component === 'webhook' && !this.hasWebhook)
      return ['requires admission by webhook', "remove it, or give admission: 'webhook'"];
    if (component === 'fluxion' && props.fluxion === 'embedded')
      return ['is for the sidecar, and fluxion is embedded', "remove it, or choose fluxion: 'sidecar'"];
    if (component === 'database' && !database.isDeployed)
      return ["is for the stack's own database", 'remove it, or choose Database.statefulSet()'];
    if (component === 'backup' && !database.hasBackup)
      return ['requires dumps of the database', 'remove it, or choose Database.statefulSet({ backup: {} })'];
    return undefined;
  }

  private get hasWebhook(): boolean {
    return hasForm(this.admission, 'webhook');
  }

  /** A runtime outside of the cluster may have a reader or not. */
  private get hasReader(): boolean {
    const { readApi, externalRuntime } = this.props;
    return readApi !== false && (externalRuntime === undefined || externalRuntime.reader !== undefined);
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
      workloadKinds: this.props.workloadKinds,
      ...(props.externalRuntime === undefined ? databaseSecrets(database) : {}),
    });
    if (this.hasWebhook) {
      new WebhookAccount(scope, 'webhook-account', {
        namespace: this.namespace,
        secretName: WEBHOOK_SECRET,
        configurationName: WEBHOOK_CONFIGURATION,
        hasFiles: this.certManager !== undefined,
      });
    }
    if (this.hasReader)
      new ReaderAccount(scope, 'reader-account', {
        namespace,
        workloadKinds: this.props.workloadKinds,
        ...(props.externalRuntime === undefined ? databaseSecrets(database) : {}),
      });
    new UserRoles(scope, 'user-roles', { miniClusters: this.hasMiniClusters, readApi: this.hasReader });
    if (props.scheduler === true) new SchedulerAccount(scope, 'scheduler-account', { namespace });
  }

  private addRuntime(): Configuration {
    const { namespace, props, database, pods, image } = this;
    const configuration = new Configuration(this.layer('rbac'), 'configuration', {
      namespace,
      settings: whenKnown(this.props, (known) =>
        stackSettings(known, { namespace, database, hasFiles: this.certManager !== undefined }),
      ),
    });
    if (database.hasObjects)
      database.render(this.layer('database'), { namespace, runtimeImage: image, pods });
    new Controller(this.layer('controller'), 'controller', {
      namespace,
      image,
      pods,
      configuration,
      database,
      miniClusters: this.hasMiniClusters,
      ...(props.fluxion === 'embedded'
        ? {}
        : { fluxion: fluxionSidecar({ image: fluxionImage(props), configuration }) }),
    });
    if (this.hasWebhook) {
      new Webhook(this.layer('webhook'), 'webhook', {
        namespace,
        image,
        pods,
        configuration,
        ...(this.certManager === undefined ? {} : { certManager: this.certManager }),
      });
    }
    return configuration;
  }

  /** @param configuration @default - the reader is outside of the cluster */
  private addReader(configuration: Configuration | undefined): void {
    const { namespace, props, database, pods, image } = this;
    const scope = this.layer('reader');
    const outside = props.externalRuntime?.reader;
    if (configuration !== undefined)
      new Reader(scope, 'reader', { namespace, image, pods, configuration, database });
    if (outside !== undefined) new OutsideReader(scope, 'reader', { namespace, ...outside });
    new ReadApi(scope, 'read-api', { namespace, ...(outside && { port: outside.port }) });
  }

  /** Image of the roles of the runtime. */
  private get image(): string {
    return this.props.runtimeImage ?? DEFAULT_IMAGES.runtime;
  }

  private addMonitoring(): void {
    const { namespace, props, database, hasWebhook } = this;
    const scope = this.layer('controller');
    if (props.monitoring !== undefined)
      new Monitoring(scope, 'monitoring', {
        ...props.monitoring,
        namespace,
        hasWebhook,
        hasReader: this.hasReader,
        hasFluxion: props.fluxion !== 'embedded',
      });
    if (props.verticalPodAutoscalers !== true) return;
    const others = [
      ...(hasWebhook ? (['webhook'] as const) : []),
      ...(this.hasReader ? (['reader'] as const) : []),
      ...(database.isDeployed ? (['database'] as const) : []),
      ...(props.scheduler === true ? (['scheduler'] as const) : []),
    ];
    new PodRecommendations(scope, 'recommendations', { namespace, components: ['controller', ...others] });
  }

  private get certManager() {
    return this.props.webhookCertificate?.certManager;
  }

  private addNetworkPolicies(): void {
    const { namespace, props, database, hasWebhook } = this;
    const { monitoringNamespace, apiserverPorts, apiserverCidrs, fluxion, scheduler } = props;
    new NetworkPolicies(this.layer('rbac'), 'network-policies', {
      namespace,
      database,
      hasWebhook,
      hasReader: this.hasReader,
      hasScheduler: scheduler === true,
      hasFluxion: fluxion !== 'embedded',
      hasMiniClusters: this.hasMiniClusters,
      ...(monitoringNamespace === undefined ? {} : { monitoringNamespace }),
      ...(apiserverPorts === undefined ? {} : { apiserverPorts }),
      ...(apiserverCidrs === undefined ? {} : { apiserverCidrs }),
    });
  }

  private addScheduler(): void {
    const { namespace, props, version, pods } = this;
    if (version === undefined) {
      throw new PropsError(
        'FluxQueue.scheduler',
        'requires kubernetesVersion, because a scheduler must not be newer than its apiserver',
        true,
        'give kubernetesVersion, or remove scheduler',
      );
    }
    new Scheduler(this.layer('scheduler'), 'scheduler', {
      namespace,
      kubernetesVersion: version,
      pods,
      ...(props.schedulerImage === undefined ? {} : { image: props.schedulerImage }),
    });
  }

  private addAdmission(): void {
    const { clusterWide, excludedNamespaces, externalRuntime, gitOpsUsers, kueueUsers } = this.props;
    new Admission(this.layer('admission'), 'admission', {
      namespace: this.namespace,
      ownSecrets: this.ownSecrets(),
      miniClusters: this.hasMiniClusters,
      readApi: this.hasReader,
      mutatingPolicies: hasForm(this.admission, 'policies') || this.version?.hasMutatingPolicies === true,
      ...userLimits(this.props),
      form: this.admission,
      ...(this.certManager === undefined ? {} : { webhookAnnotations: caInjection(this.namespace) }),
      clusterWide: clusterWide ?? false,
      ...(excludedNamespaces === undefined ? {} : { excludedNamespaces }),
      ...(gitOpsUsers === undefined ? {} : { gitOpsUsers }),
      ...(kueueUsers === undefined ? {} : { kueueUsers }),
      workloadKinds: this.props.workloadKinds,
      ...(this.props.scheduler === true ? { schedulerName: SCHEDULER_NAME } : {}),
      ...(externalRuntime === undefined ? {} : { externalRuntime }),
    });
  }

  /** The Secret that each ServiceAccount can create. */
  private ownSecrets(): Record<string, string> {
    const { database, props } = this;
    const { name } = database.url;
    return {
      ...(this.hasWebhook && this.certManager === undefined
        ? { [WEBHOOK_SERVICE_ACCOUNT]: WEBHOOK_SECRET }
        : {}),
      ...(this.hasReader ? { [READER_SERVICE_ACCOUNT]: READER_SECRET } : {}),
      ...(props.externalRuntime === undefined && database.isDeployed ? { [name]: name } : {}),
    };
  }
}

function databaseSecrets({ url, caSecret }: Database) {
  return { databaseSecret: url.name, ...(caSecret === undefined ? {} : { databaseCaSecret: caSecret }) };
}

function admissionForm(props: FluxQueueProps, version: KubernetesVersion | undefined): AdmissionChoice {
  const servesPolicies = version?.hasMutatingPolicies === true;
  const { admission } = props;
  if (admission !== undefined && hasForm(admission, 'policies') && version !== undefined && !servesPolicies) {
    throw new PropsError(
      'FluxQueue.admission',
      `requires Kubernetes 1.36 or newer, this cluster has ${version}`,
      admission,
      'choose webhook, or remove admission',
    );
  }
  return admission ?? (servesPolicies ? 'policies' : 'webhook');
}
