import { Construct } from 'constructs';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, celList, serviceAccountUser } from './scope';

export interface SecretGuardProps extends AdmissionScopeProps {
  /** The Secret that each ServiceAccount of the stack's namespace can create. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Restricts each ServiceAccount that can create Secrets to its own one, which RBAC cannot express: an account that can
 * create any Secret can make itself a token of any ServiceAccount of the namespace. RBAC restricts updates by name.
 */
export class SecretGuard extends Construct {
  constructor(scope: Construct, id: string, { secrets, ...props }: SecretGuardProps) {
    super(scope, id);
    const byUser = Object.entries(secrets).map(
      ([account, secret]) => [serviceAccountUser(props, account), secret] as const,
    );
    addGuard(this, 'secrets', props, {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] },
        ],
      },
      matchConditions: [
        {
          name: 'their-makers',
          expression: `request.userInfo.username in ${celList(byUser.map(([user]) => user))}`,
        },
      ],
      validations: [
        {
          expression:
            'object.type == "Opaque" && object.metadata.name == ' +
            `{${byUser.map(([user, secret]) => `${cel(user)}: ${cel(secret)}`).join(', ')}}[request.userInfo.username]`,
          message: 'FLUXQ_RESERVED: this ServiceAccount can only create its own Secret',
        },
      ],
    });
  }
}
