import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { CONTROLLER_SERVICE_ACCOUNT } from '../api/labels';
import { roleCommand } from '../images';
import { objectMetadata, type ComponentProps, selectorLabels, Wave } from '../metadata';
import { PRIORITY_CLASS } from './base';
import { CONFIG_FILE, type Configuration } from './configuration';
import type { SecretKey } from './database';
import { SOCKET_MOUNT, SOCKET_VOLUME } from './fluxion';
import {
  API_ACCESS_MOUNT,
  API_ACCESS_VOLUME,
  httpProbes,
  RESTRICTED,
  RUNTIME_USER,
  resources,
  restrictedPod,
  spread,
} from './pod';

const NAME = 'fluxqueue-controller';
/** Probes and metrics of the runtime's roles. */
export const HTTP_PORT = 8080;

export interface ControllerProps extends ComponentProps {
  readonly image: string;
  readonly replicas: number;
  readonly configuration: Configuration;
  /** Key of a Secret with the database's URL. */
  readonly databaseUrl: SecretKey;
  /** @default - the matcher inside the controller */
  readonly fluxion?: k8s.Container;
}

/** The leader schedules; the others wait for its Lease with their Fluxion already running. */
export class Controller extends Construct {
  constructor(scope: Construct, id: string, props: ControllerProps) {
    super(scope, id);
    const { namespace, replicas, configuration, fluxion } = props;
    const labels = selectorLabels('controller');
    new k8s.KubeDeployment(this, 'deployment', {
      metadata: objectMetadata({ name: NAME, namespace, component: 'controller', wave: Wave.RUNTIME }),
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: configuration.annotations },
          spec: {
            serviceAccountName: CONTROLLER_SERVICE_ACCOUNT,
            automountServiceAccountToken: false,
            priorityClassName: PRIORITY_CLASS,
            securityContext: restrictedPod(RUNTIME_USER),
            topologySpreadConstraints: spread('controller'),
            containers: [controllerContainer(props), ...(fluxion === undefined ? [] : [fluxion])],
            volumes: [
              configuration.volume,
              API_ACCESS_VOLUME,
              ...(fluxion === undefined ? [] : [SOCKET_VOLUME]),
            ],
          },
        },
      },
    });
    new k8s.KubePodDisruptionBudget(this, 'budget', {
      metadata: objectMetadata({ name: NAME, namespace, component: 'controller', wave: Wave.RUNTIME }),
      spec: { maxUnavailable: k8s.IntOrString.fromNumber(1), selector: { matchLabels: labels } },
    });
  }
}

function controllerContainer({ image, configuration, databaseUrl, fluxion }: ControllerProps): k8s.Container {
  return {
    name: 'controller',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand('controller', '--config', CONFIG_FILE),
    env: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: databaseUrl } }],
    ports: [{ name: 'http', containerPort: HTTP_PORT }],
    ...httpProbes(HTTP_PORT),
    resources: resources({ cpu: '200m', memory: '256Mi', memoryLimit: '2Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [configuration.mount, API_ACCESS_MOUNT, ...(fluxion === undefined ? [] : [SOCKET_MOUNT])],
  };
}
