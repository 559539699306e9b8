import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { PRIORITY_CLASS, WEBHOOK_SECRET, WEBHOOK_SERVICE, WEBHOOK_SERVICE_ACCOUNT } from '../api/labels';
import { roleCommand } from '../images';
import { KubeObject } from '../kube-object';
import { type ComponentProps, KEEP, objectMetadata, selectorLabels, Wave } from '../metadata';
import { CertManagerCertificate, type CertManagerProps, certificateFiles } from './certificates';
import { CONFIG_FILE, type Configuration } from './configuration';
import { HTTP_PORT, METRICS_PORT } from './controller';
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

export const WEBHOOK_PORT = 9443;

export interface WebhookProps extends ComponentProps {
  readonly image: string;
  readonly pods: Pods;
  readonly configuration: Configuration;
  /** cert-manager makes the certificate. @default - the webhook makes it */
  readonly certManager?: CertManagerProps;
}

/** Deployment of the admission webhook. The webhook configuration is in the component Admission, one wave later. */
export class Webhook extends Construct {
  constructor(scope: Construct, id: string, props: WebhookProps) {
    super(scope, id);
    const { namespace } = props;
    const labels = selectorLabels('webhook');
    const metadata = objectMetadata({
      name: WEBHOOK_SERVICE,
      namespace,
      component: 'webhook',
      wave: Wave.RUNTIME,
    });
    if (props.certManager !== undefined)
      new CertManagerCertificate(this, 'cert-manager', { ...props.certManager, namespace });
    else
      new KubeObject(this, 'certificate', k8s.KubeSecret, {
        metadata: objectMetadata({
          name: WEBHOOK_SECRET,
          namespace,
          component: 'webhook',
          wave: Wave.RIGHTS,
          annotations: KEEP,
        }),
        type: 'Opaque',
      });
    new KubeObject(this, 'service', k8s.KubeService, {
      metadata,
      spec: {
        selector: labels,
        ports: [{ name: 'https', port: 443, targetPort: k8s.IntOrString.fromString('https') }],
      },
    });
    new KubeObject(this, 'deployment', k8s.KubeDeployment, { metadata, spec: deployment(props, labels) });
    new KubeObject(this, 'budget', k8s.KubePodDisruptionBudget, {
      metadata,
      spec: props.pods.budget('webhook'),
    });
  }
}

function deployment(props: WebhookProps, labels: Record<string, string>): k8s.DeploymentSpec {
  const { image, pods, configuration, certManager } = props;
  const [mount, volume] =
    certManager === undefined
      ? [API_ACCESS_MOUNT, API_ACCESS_VOLUME]
      : [certificateFiles.mount, certificateFiles.volume];
  return {
    replicas: pods.replicas('webhook'),
    // With two replicas, a rolling update must not reduce the number of ready ones.
    strategy: {
      rollingUpdate: {
        maxUnavailable: k8s.IntOrString.fromNumber(0),
        maxSurge: k8s.IntOrString.fromNumber(1),
      },
    },
    selector: { matchLabels: labels },
    template: pods.template(
      'webhook',
      {
        serviceAccountName: WEBHOOK_SERVICE_ACCOUNT,
        automountServiceAccountToken: false,
        ...NO_SERVICE_LINKS,
        priorityClassName: PRIORITY_CLASS,
        securityContext: restrictedPod(RUNTIME_USER),
        topologySpreadConstraints: spread('webhook'),
        containers: [
          {
            name: 'webhook',
            image,
            imagePullPolicy: 'IfNotPresent',
            command: roleCommand('webhook', '--config', CONFIG_FILE),
            ports: [
              { name: 'https', containerPort: WEBHOOK_PORT },
              { name: 'http', containerPort: HTTP_PORT },
              { name: 'metrics', containerPort: METRICS_PORT },
            ],
            ...httpProbes(HTTP_PORT),
            resources: resources({ cpu: '50m', memory: '128Mi', memoryLimit: '512Mi' }),
            securityContext: RESTRICTED,
            volumeMounts: [configuration.mount, mount],
          },
        ],
        volumes: [configuration.volume, volume],
      },
      configuration.annotations,
    ),
  };
}
