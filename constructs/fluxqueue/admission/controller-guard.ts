import { Construct } from 'constructs';
import { CERTIFICATE_KEY, MINICLUSTER_GROUP } from '../../api/labels';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, celList, controllerUsers } from './scope';

const ownedBy = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == "MiniCluster" && ` +
  `owner.apiVersion.startsWith(${cel(`${MINICLUSTER_GROUP}/`)}))`;

/**
 * Keeps the controller's ServiceAccount to what its rights are for, where RBAC can't say it: it deletes only what belongs to a MiniCluster,
 * and makes only the one kind of Secret (who may create any can make himself a token of any ServiceAccount). In every
 * namespace, those included that the queue never touches.
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
          message: 'FLUXQ_RESERVED: the controller makes certificates of MiniClusters, and no other Secrets',
        },
        {
          expression: `request.operation != "DELETE" || ${ownedBy('oldObject')}`,
          message: 'FLUXQ_RESERVED: the controller deletes what belongs to a MiniCluster, and nothing else',
        },
      ],
    });
  }
}
