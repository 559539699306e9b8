import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { CREATOR_KINDS } from '../../api/creators';
import { STACK_NAMESPACE } from '../../api/labels';
import { creatorConditions } from './creators';
import { jobUpdateConditions } from './job-update';
import { kindRules } from './kinds';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  allOf,
  type ControllerUserProps,
  jobConditions,
  type MatchCondition,
  namespaceSelector,
  notExcluded,
  otherJobConditions,
  POD_CONDITIONS,
} from './scope';

export interface AdmissionWebhookConfigurationProps extends AdmissionScopeProps, ControllerUserProps {
  /**
   * Name of the webhook's Service in the namespace of the stack; not used with url.
   * @default 'fluxqueue-webhook'
   */
  readonly serviceName?: string;
  /**
   * Port of that Service.
   * @default 443
   */
  readonly servicePort?: number;
  /**
   * URL of a webhook outside the cluster, without a path, e.g. `https://127.0.0.1:9443`.
   * @default - the Service is used
   */
  readonly url?: string;
  /**
   * CA of the webhook's certificate in PEM.
   * @default - the webhook role or cert-manager writes it
   */
  readonly caBundle?: string;
  /**
   * Additional annotations, e.g. `cert-manager.io/inject-ca-from` of cert-manager.
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Timeout of the apiserver's request in seconds, from 1 to 30.
   * @default 5
   */
  readonly timeoutSeconds?: number;
}

/**
 * Registers the webhook role with the apiserver. In an enabled namespace, requests fail while the webhook is down
 * (failurePolicy Fail), because no workload can bypass the queue. In other namespaces only updates call it that change what
 * is the queue's in a Job which was admitted before its namespace left the queue.
 */
export class AdmissionWebhookConfiguration extends Construct {
  /** Name of the MutatingWebhookConfiguration, in which the webhook role writes the caBundle. */
  readonly name: string;

  constructor(scope: Construct, id: string, props: AdmissionWebhookConfigurationProps = {}) {
    super(scope, id);
    this.name = props.name ?? 'fluxqueue';
    new ApiObject(this, 'Resource', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: admissionMetadata(this.name, props.annotations),
      webhooks: [
        webhook(props, {
          name: 'jobs',
          apiGroups: ['batch'],
          resources: ['jobs'],
          operations: ['CREATE'],
          matchConditions: jobConditions(props),
        }),
        webhook(props, {
          name: 'other-jobs',
          apiGroups: ['batch'],
          resources: ['jobs'],
          operations: ['CREATE'],
          matchConditions: otherJobConditions(props),
        }),
        webhook(props, {
          name: 'job-updates',
          apiGroups: ['batch'],
          resources: ['jobs'],
          operations: ['UPDATE'],
          // As the policy: the guard applies there too.
          namespaces: notExcluded(props),
          matchConditions: jobUpdateConditions(props),
        }),
        webhook(props, {
          name: 'pods',
          apiGroups: [''],
          resources: ['pods'],
          operations: ['CREATE'],
          matchConditions: POD_CONDITIONS,
        }),
        ...kindWebhooks(props),
        ...CREATOR_KINDS.map((kind) =>
          webhook(props, {
            name: `creators-${kind.name}`,
            apiGroups: kind.apiGroups,
            apiVersion: kind.version,
            resources: kind.resources,
            operations: ['CREATE', 'UPDATE'],
            matchConditions: creatorConditions(kind, props),
          }),
        ),
      ],
    });
  }
}

function kindWebhooks(props: AdmissionWebhookConfigurationProps) {
  return kindRules(props).map(
    ({ suffix, conditions, apiGroups, apiVersion, resources, operations, namespaces }) =>
      webhook(props, {
        name: suffix,
        apiGroups,
        resources,
        operations,
        matchConditions: conditions,
        ...(apiVersion === undefined ? {} : { apiVersion }),
        ...(namespaces === undefined ? {} : { namespaces }),
      }),
  );
}

interface Rule {
  readonly name: string;
  readonly apiGroups: readonly string[];
  readonly apiVersion?: string;
  readonly resources: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  readonly matchConditions: readonly MatchCondition[];
  /** Namespaces to which it applies. @default - the enabled ones */
  readonly namespaces?: ReturnType<typeof namespaceSelector>;
}

function webhook(
  props: AdmissionWebhookConfigurationProps,
  { name, apiGroups, apiVersion = 'v1', resources, operations, matchConditions, namespaces }: Rule,
) {
  return {
    name: `${name}.fluxqueue.converged-computing.org`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'Never',
    timeoutSeconds: props.timeoutSeconds ?? 5,
    clientConfig: clientConfig(props),
    namespaceSelector: namespaces ?? namespaceSelector(props),
    rules: [
      {
        apiGroups,
        apiVersions: [apiVersion],
        operations,
        resources,
        scope: 'Namespaced',
      },
    ],
    matchConditions: allOf(matchConditions),
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
