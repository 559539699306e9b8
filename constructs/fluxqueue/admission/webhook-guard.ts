import { Construct } from 'constructs';
import { WEBHOOK_SERVICE_ACCOUNT } from '../../api/labels';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, serviceAccountUser } from './scope';

/**
 * Restricts the webhook's ServiceAccount, which RBAC allows to change its webhook configuration, to the CA bundles in it.
 * With the other fields it could send the objects of every namespace to another address.
 */
export class WebhookGuard extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps) {
    super(scope, id);
    addGuard(this, 'webhook', props, {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['admissionregistration.k8s.io'],
            apiVersions: ['v1'],
            operations: ['UPDATE'],
            resources: ['mutatingwebhookconfigurations'],
          },
        ],
      },
      matchConditions: [
        {
          name: 'the-webhook',
          expression: `request.userInfo.username == ${cel(serviceAccountUser(props, WEBHOOK_SERVICE_ACCOUNT))}`,
        },
      ],
      validations: [
        {
          expression: [
            'object.webhooks.size() == oldObject.webhooks.size()',
            ...['labels', 'annotations', 'ownerReferences', 'finalizers'].map(
              (field) => `object.metadata.?${field} == oldObject.metadata.?${field}`,
            ),
            'object.webhooks.all(hook, oldObject.webhooks.exists(old, old.name == hook.name && ' +
              'dyn(hook).all(key, key == "clientConfig" || (key in dyn(old) && dyn(old)[key] == dyn(hook)[key])) && ' +
              'dyn(old).all(key, key in dyn(hook)) && ' +
              'dyn(hook.clientConfig).all(key, key == "caBundle" || (key in dyn(old.clientConfig) && ' +
              'dyn(old.clientConfig)[key] == dyn(hook.clientConfig)[key])) && ' +
              'dyn(old.clientConfig).all(key, key == "caBundle" || key in dyn(hook.clientConfig))))',
          ].join(' && '),
          message: 'FLUXQ_RESERVED: webhooks: the webhook can only write clientConfig.caBundle',
        },
      ],
    });
  }
}
