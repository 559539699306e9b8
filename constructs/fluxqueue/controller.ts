import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { CONTROLLER_SERVICE_ACCOUNT, PRIORITY_CLASS } from '../api/labels';
import { roleCommand } from '../images';
import { KubeObject } from '../kube-object';
import { type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { CONFIG_FILE, type Configuration } from './configuration';
import type { Database } from './database';
import { SOCKET_MOUNT, SOCKET_VOLUME } from './fluxion';
import {
  API_ACCESS_MOUNT,
  API_ACCESS_VOLUME,
  httpProbes,
  NO_SERVICE_LINKS,
  RESTRICTED,
  RUNTIME_USER,
  resources,
  restrictedPod,
  spread,
} from './pod';
import type { Pods } from './pods/pods';

const NAME = 'fluxqueue-controller';
/** Port of the probes of the runtime's roles. */
export const HTTP_PORT = 8080;
/** Port of their metrics. */
export const METRICS_PORT = 9464;
/** Port to which the lead brokers of MiniClusters report. */
export const REPORT_PORT = 8444;

export interface ControllerProps extends ComponentProps {
  readonly image: string;
  readonly pods: Pods;
  readonly configuration: Configuration;
  readonly database: Database;
  /** Whether it receives the reports of MiniClusters. */
  readonly miniClusters: boolean;
  /** Sidecar with the Fluxion service. @default - the matcher is embedded in the controller */
  readonly fluxion?: k8s.Container;
}

/** Deployment of the controller. The leader schedules; the other replicas wait for the Lease, with Fluxion already running. */
export class Controller extends Construct {
  constructor(scope: Construct, id: string, props: ControllerProps) {
    super(scope, id);
    const { namespace, pods, configuration, fluxion } = props;
    const initContainers = props.database.initContainers(props.image);
    const labels = selectorLabels('controller');
    new KubeObject(this, 'deployment', k8s.KubeDeployment, {
      metadata: objectMetadata({ name: NAME, namespace, component: 'controller', wave: Wave.RUNTIME }),
      spec: {
        replicas: pods.replicas('controller'),
        selector: { matchLabels: labels },
        template: pods.template('controller', {
          serviceAccountName: CONTROLLER_SERVICE_ACCOUNT,
          automountServiceAccountToken: false,
          ...NO_SERVICE_LINKS,
          priorityClassName: PRIORITY_CLASS,
          securityContext: restrictedPod(RUNTIME_USER),
          topologySpreadConstraints: spread('controller'),
          ...(initContainers.length === 0 ? {} : { initContainers }),
          containers: [controllerContainer(props), ...(fluxion === undefined ? [] : [fluxion])],
          volumes: [
            configuration.volume,
            API_ACCESS_VOLUME,
            ...(fluxion === undefined ? [] : [SOCKET_VOLUME]),
          ],
        }),
      },
    });
    new KubeObject(this, 'budget', k8s.KubePodDisruptionBudget, {
      metadata: objectMetadata({ name: NAME, namespace, component: 'controller', wave: Wave.RUNTIME }),
      spec: pods.budget('controller'),
    });
  }
}

/**
 * Where the URL of the database is. The name instead of the value: the kubelet starts no container whose Secret is filled
 * later, and looks again after 10 to 15 s. Variables instead of the file, so that commands in the container need no option.
 */
export function databaseVariables(namespace: string, { url, caSecret }: Database): k8s.EnvVar[] {
  return [
    { name: 'FLUXQUEUE_database_secret_namespace', value: namespace },
    { name: 'FLUXQUEUE_database_secret_name', value: url.name },
    { name: 'FLUXQUEUE_database_secret_key', value: url.key },
    ...(caSecret === undefined ? [] : [{ name: 'FLUXQUEUE_database_secret_caName', value: caSecret }]),
  ];
}

function controllerContainer(props: ControllerProps): k8s.Container {
  const { image, namespace, configuration, database, fluxion, miniClusters } = props;
  return {
    name: 'controller',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand('controller', '--config', CONFIG_FILE),
    env: [
      ...databaseVariables(namespace, database),
      { name: 'FLUXQUEUE_leaderElection_podUid', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
    ],
    ports: [
      { name: 'http', containerPort: HTTP_PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
      ...(miniClusters ? [{ name: 'reports', containerPort: REPORT_PORT }] : []),
    ],
    ...httpProbes(HTTP_PORT),
    resources: resources({ cpu: '100m', memory: '256Mi', memoryLimit: '2Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [configuration.mount, API_ACCESS_MOUNT, ...(fluxion === undefined ? [] : [SOCKET_MOUNT])],
  };
}
