import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { STACK_NAMESPACE } from '../../api/labels';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  JOB_CONDITIONS,
  type MatchCondition,
  namespaceSelector,
  POD_CONDITIONS,
} from './scope';

export interface AdmissionWebhookConfigurationProps extends AdmissionScopeProps {
  /**
   * Service of the webhook role in the stack's namespace; ignored where url is given.
   * @default 'fluxqueue-webhook'
   */
  readonly serviceName?: string;
  /**
   * Port of that Service.
   * @default 443
   */
  readonly servicePort?: number;
  /**
   * Where the webhook listens outside the cluster: `https://127.0.0.1:9443`, without a path.
   * @default - the Service
   */
  readonly url?: string;
  /**
   * PEM of the CA that the apiserver trusts.
   * @default - none: the webhook role (or cert-manager) writes it
   */
  readonly caBundle?: string;
  /**
   * More annotations, such as cert-manager's `cert-manager.io/inject-ca-from`.
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * How long the apiserver waits, 1 to 30 seconds.
   * @default 5
   */
  readonly timeoutSeconds?: number;
}

/**
 * Registers the webhook role with the apiserver. A namespace that opted in
 * waits for the webhook (failurePolicy Fail: nothing may slip past the queue);
 * all others never call it.
 */
export class AdmissionWebhookConfiguration extends Construct {
  /** Name of the MutatingWebhookConfiguration, for the role that keeps its caBundle. */
  readonly name: string;

  constructor(scope: Construct, id: string, props: AdmissionWebhookConfigurationProps = {}) {
    super(scope, id);
    this.name = props.name ?? 'fluxqueue';
    new ApiObject(this, 'Resource', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: admissionMetadata(this.name, props.annotations),
      webhooks: [webhook(props, 'batch', 'jobs', JOB_CONDITIONS), webhook(props, '', 'pods', POD_CONDITIONS)],
    });
  }
}

function webhook(
  props: AdmissionWebhookConfigurationProps,
  apiGroup: string,
  resource: string,
  matchConditions: readonly MatchCondition[],
) {
  return {
    name: `${resource}.fluxqueue.converged-computing.org`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'Never',
    timeoutSeconds: props.timeoutSeconds ?? 5,
    clientConfig: clientConfig(props),
    namespaceSelector: namespaceSelector(props),
    rules: [
      {
        apiGroups: [apiGroup],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: [resource],
        scope: 'Namespaced',
      },
    ],
    matchConditions,
  };
}

function clientConfig({ url, caBundle, ...props }: AdmissionWebhookConfigurationProps) {
  const trust = caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') };
  if (url !== undefined) return { ...trust, url: `${url}/mutate` };
  return {
    ...trust,
    service: {
      namespace: props.stackNamespace ?? STACK_NAMESPACE,
      name: props.serviceName ?? 'fluxqueue-webhook',
      port: props.servicePort ?? 443,
      path: '/mutate',
    },
  };
}
