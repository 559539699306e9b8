import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { WEBHOOK_SECRET, WEBHOOK_SERVICE, WEBHOOK_SERVICE_ACCOUNT } from '../api/labels';
import { KubeObject } from '../kube-object';
import { type ComponentProps, KEEP, objectMetadata, Wave } from '../metadata';
import { CertManagerCertificate, type CertManagerProps, certificateFiles } from './certificates';
import type { Configuration } from './configuration';
import { API_ACCESS_MOUNT, API_ACCESS_VOLUME } from './pod';
import type { Pods } from './pods/pods';
import { addServer } from './server';

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
    const { namespace, image, pods, configuration, certManager } = props;
    if (certManager !== undefined)
      new CertManagerCertificate(this, 'cert-manager', { ...certManager, namespace });
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
    const { volume, mount } =
      certManager === undefined ? { volume: API_ACCESS_VOLUME, mount: API_ACCESS_MOUNT } : certificateFiles;
    addServer(this, {
      component: 'webhook',
      name: WEBHOOK_SERVICE,
      serviceAccountName: WEBHOOK_SERVICE_ACCOUNT,
      namespace,
      image,
      pods,
      configuration,
      port: WEBHOOK_PORT,
      resources: { cpu: '50m', memory: '128Mi', memoryLimit: '512Mi' },
      volume,
      mount,
    });
  }
}
