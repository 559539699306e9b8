import { Construct } from 'constructs';
import { addGuard } from './guard-policy';
import { type AdmissionScopeProps, cel, celList, serviceAccountUser } from './scope';

export interface SecretGuardProps extends AdmissionScopeProps {
  /** ServiceAccount of the stack's namespace -> the one Secret that it makes. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Keeps ServiceAccounts that may create Secrets to the one that is theirs, where RBAC can't say it: who may create any
 * can make himself a token of any ServiceAccount of the namespace. What they change RBAC binds to a name.
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
          message: 'FLUXQ_RESERVED: this ServiceAccount makes its own Secret, and no others',
        },
      ],
    });
  }
}
