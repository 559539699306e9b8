import { Construct } from 'constructs';
import { PropsError } from '../../api/errors';
import { WEBHOOK_CONFIGURATION, WEBHOOK_SERVICE } from '../../api/labels';
import type { PartProps } from '../../metadata';
import { ControllerGuard } from './controller-guard';
import type { AdmissionForm, ExternalRuntime } from './form';
import { AdmissionGuards } from './guards';
import { AdmissionPolicies } from './policies';
import { SecretGuard } from './secret-guard';
import { AdmissionWebhookConfiguration } from './webhook-configuration';

export interface AdmissionProps extends PartProps {
  readonly form: AdmissionForm;
  readonly clusterWide: boolean;
  readonly excludedNamespaces?: readonly string[];
  /** @default - pods keep the scheduler they ask for */
  readonly schedulerName?: string;
  readonly externalRuntime?: ExternalRuntime;
  /** ServiceAccount of the stack -> the one Secret that it makes. */
  readonly ownSecrets: Readonly<Record<string, string>>;
}

/** How workloads come in: the form that was chosen, and the guards that both forms need. */
export class Admission extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionProps) {
    super(scope, id);
    const { schedulerName, externalRuntime } = props;
    const where = {
      stackNamespace: props.namespace,
      clusterWide: props.clusterWide,
      ...(props.excludedNamespaces === undefined ? {} : { excludedNamespaces: props.excludedNamespaces }),
    };
    const users = externalRuntime?.users;
    new AdmissionGuards(this, 'guards', {
      ...where,
      ...(users === undefined ? {} : { controllerUsers: users }),
    });
    // Whoever else runs the runtime, from outside, may be anybody: an administrator keeps his rights.
    new ControllerGuard(this, 'controller', where);
    if (Object.keys(props.ownSecrets).length > 0)
      new SecretGuard(this, 'secrets', { ...where, secrets: props.ownSecrets });
    if (props.form === 'policies') {
      new AdmissionPolicies(this, 'policies', {
        ...where,
        ...(schedulerName === undefined ? {} : { schedulerName }),
      });
    } else {
      new AdmissionWebhookConfiguration(this, 'webhook', {
        ...where,
        name: WEBHOOK_CONFIGURATION,
        serviceName: WEBHOOK_SERVICE,
        ...externalAddress(externalRuntime),
      });
    }
  }
}

function externalAddress(runtime: ExternalRuntime | undefined): { url?: string; caBundle?: string } {
  if (runtime === undefined) return {};
  if (runtime.webhookUrl === undefined) {
    throw new PropsError(
      'FluxQueue.externalRuntime.webhookUrl',
      'is missing, and no webhook runs in the cluster',
      undefined,
      'say where the webhook role answers, or choose admission policies',
    );
  }
  return {
    url: runtime.webhookUrl,
    ...(runtime.webhookCa === undefined ? {} : { caBundle: runtime.webhookCa }),
  };
}
