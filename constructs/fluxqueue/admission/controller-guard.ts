import { Construct } from 'constructs';
import { CERTIFICATE_KEY, MINICLUSTER_GROUP } from '../../api/labels';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, celList, controllerUsers } from './scope';

const ownedBy = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == "MiniCluster" && ` +
  `owner.apiVersion.startsWith(${cel(`${MINICLUSTER_GROUP}/`)}))`;

/**
 * Restricts the controller's ServiceAccount where RBAC cannot: it deletes only objects of MiniClusters, and creates only
 * Secrets with their certificates, because an account that can create any Secret can make itself a token of any
 * ServiceAccount. The guard applies in every namespace, including excluded ones.
 */
export class ControllerGuard extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps = {}) {
    super(scope, id);
    addGuard(this, 'controller', props, {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['secrets'],
          },
          { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['services'] },
          { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['DELETE'], resources: ['deployments'] },
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
            `request.operation == "DELETE" || (object.type == "Opaque" && ${ownedBy('object')} && ` +
            `object.?data.orValue({}).all(key, key == ${cel(CERTIFICATE_KEY)}))`,
          message: 'FLUXQ_RESERVED: the controller can only create Secrets with certificates of MiniClusters',
        },
        {
          expression: `request.operation != "DELETE" || ${ownedBy('oldObject')}`,
          message: 'FLUXQ_RESERVED: the controller can only delete objects of MiniClusters',
        },
      ],
    });
  }
}
