/** What webhook and reader have in common: pods behind a Service, which the apiserver calls with HTTPS. */
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { PRIORITY_CLASS } from '../api/labels';
import { roleCommand } from '../images';
import { KubeObject } from '../kube-object';
import { type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { CONFIG_FILE, type Configuration } from './configuration';
import { HTTP_PORT, METRICS_PORT } from './controller';
import {
  httpProbes,
  NO_SERVICE_LINKS,
  RESTRICTED,
  type ResourceProps,
  RUNTIME_USER,
  resources,
  restrictedPod,
  spread,
} from './pod';
import type { Pods } from './pods/pods';

export interface ServerProps extends ComponentProps {
  readonly component: 'webhook' | 'reader';
  /** Name of the Service and of the Deployment. */
  readonly name: string;
  readonly serviceAccountName: string;
  readonly image: string;
  readonly pods: Pods;
  readonly configuration: Configuration;
  /** The port of HTTPS. */
  readonly port: number;
  readonly resources: ResourceProps;
  /** @default - none */
  readonly env?: k8s.EnvVar[];
  /** The token of the ServiceAccount, or the certificate in files. */
  readonly volume: k8s.Volume;
  readonly mount: k8s.VolumeMount;
}

/** Adds the Service, the Deployment and the budget for disruptions. */
export function addServer(scope: Construct, props: ServerProps): void {
  const { component, name, namespace, pods } = props;
  const metadata = objectMetadata({ name, namespace, component, wave: Wave.RUNTIME });
  const labels = selectorLabels(component);
  new KubeObject(scope, 'service', k8s.KubeService, {
    metadata,
    spec: {
      selector: labels,
      ports: [{ name: 'https', port: 443, targetPort: k8s.IntOrString.fromString('https') }],
    },
  });
  new KubeObject(scope, 'deployment', k8s.KubeDeployment, { metadata, spec: deployment(props, labels) });
  new KubeObject(scope, 'budget', k8s.KubePodDisruptionBudget, { metadata, spec: pods.budget(component) });
}

function deployment(props: ServerProps, labels: Record<string, string>): k8s.DeploymentSpec {
  const { component, serviceAccountName, pods, configuration, volume } = props;
  return {
    replicas: pods.replicas(component),
    // A rolling update must not reduce the number of ready pods: the apiserver needs an answer at any time.
    strategy: {
      rollingUpdate: {
        maxUnavailable: k8s.IntOrString.fromNumber(0),
        maxSurge: k8s.IntOrString.fromNumber(1),
      },
    },
    selector: { matchLabels: labels },
    template: pods.template(component, {
      serviceAccountName,
      automountServiceAccountToken: false,
      ...NO_SERVICE_LINKS,
      priorityClassName: PRIORITY_CLASS,
      securityContext: restrictedPod(RUNTIME_USER),
      topologySpreadConstraints: spread(component),
      containers: [container(props)],
      volumes: [configuration.volume, volume],
    }),
  };
}

function container({
  component,
  image,
  env,
  port,
  configuration,
  mount,
  ...props
}: ServerProps): k8s.Container {
  return {
    name: component,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand(component, '--config', CONFIG_FILE),
    ...(env !== undefined && { env }),
    ports: [
      { name: 'https', containerPort: port },
      { name: 'http', containerPort: HTTP_PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
    ],
    ...httpProbes(HTTP_PORT),
    resources: resources(props.resources),
    securityContext: RESTRICTED,
    volumeMounts: [configuration.mount, mount],
  };
}
