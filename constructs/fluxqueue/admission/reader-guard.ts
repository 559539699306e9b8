import { Construct } from 'constructs';
import { READER_SERVICE_ACCOUNT } from '../../api/labels';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, serviceAccountUser } from './scope';

/**
 * Restricts the reader's ServiceAccount, which RBAC allows to change its APIService, to the CA bundle in it. With the other
 * fields it could send the questions of all users to another Service, or have any certificate accepted.
 */
export class ReaderGuard extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps) {
    super(scope, id);
    addGuard(this, 'reader', props, {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apiregistration.k8s.io'],
            apiVersions: ['v1'],
            operations: ['UPDATE'],
            resources: ['apiservices'],
          },
        ],
      },
      matchConditions: [
        {
          name: 'the-reader',
          expression: `request.userInfo.username == ${cel(serviceAccountUser(props, READER_SERVICE_ACCOUNT))}`,
        },
      ],
      validations: [
        {
          expression: [
            ...['labels', 'annotations', 'ownerReferences', 'finalizers'].map(
              (field) => `object.metadata.?${field} == oldObject.metadata.?${field}`,
            ),
            'dyn(object.spec).all(key, key == "caBundle" || ' +
              '(key in dyn(oldObject.spec) && dyn(oldObject.spec)[key] == dyn(object.spec)[key]))',
            'dyn(oldObject.spec).all(key, key == "caBundle" || key in dyn(object.spec))',
          ].join(' && '),
          message: 'FLUXQ_RESERVED: spec: the reader can only write caBundle',
        },
      ],
    });
  }
}
