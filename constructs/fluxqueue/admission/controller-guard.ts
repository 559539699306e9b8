import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { CERTIFICATE_KEY, MINICLUSTER_GROUP } from '../../names';
import {
  type AdmissionScopeProps,
  admissionMetadata,
  type ControllerUserProps,
  cel,
  celList,
  controllerUsers,
} from './scope';

export interface ControllerGuardProps extends AdmissionScopeProps, ControllerUserProps {}

/**
 * Keeps the controller to the one kind of Secret it is for. RBAC can't bind `create` to a name, and who may create any
 * Secret can make himself a token of any ServiceAccount. In every namespace, those included that the queue never touches.
 */
export class ControllerGuard extends Construct {
  constructor(scope: Construct, id: string, props: ControllerGuardProps = {}) {
    super(scope, id);
    const name = `${props.name ?? 'fluxqueue'}-guard-controller`;
    const policy = new ApiObject(this, 'policy', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: admissionMetadata(name),
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['secrets'],
            },
          ],
        },
        matchConditions: [
          {
            name: 'the-controller',
            expression: `request.userInfo.username in ${celList(controllerUsers(props))}`,
          },
        ],
        validations: [
          {
            expression:
              `object.type == "Opaque" && object.?data.orValue({}).all(key, key == ${cel(CERTIFICATE_KEY)}) && ` +
              'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == "MiniCluster" && ' +
              `owner.apiVersion.startsWith(${cel(`${MINICLUSTER_GROUP}/`)}))`,
            message:
              'FLUXQ_RESERVED: the controller makes certificates of MiniClusters, and no other Secrets',
          },
        ],
      },
    });
    new ApiObject(this, 'binding', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: admissionMetadata(name),
      spec: { policyName: policy.name, validationActions: ['Deny'] },
    });
  }
}
