/**
 * CEL of constructs/api/creators.ts: the mutation that notes the person, and the guard against claims, which applies also
 * where no mutation does. runtime/admission/creators.ts has the same mutation.
 */
import { Construct } from 'constructs';
import { CREATOR_KINDS, type CreatorKind } from '../../api/creators';
import { pointerToken } from '../../api/json-pointer';
import { USER_ANNOTATION } from '../../api/labels';
import { addGuard } from './guard-policy';
import { setByQueue } from './reserved';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  isOfJudgedOwner,
  type MatchCondition,
  notExcluded,
} from './scope';
import { userVariable } from './user-mutation';

type Props = AdmissionScopeProps & ControllerUserProps;

const pathOf = (object: string, { holder }: CreatorKind) => [object, ...holder].join('.');
const noted = (object: string, kind: CreatorKind) =>
  `${pathOf(object, kind)}.?metadata.?annotations[?${cel(USER_ANNOTATION)}].orValue("")`;
/** An update keeps what was noted: another value in a template would start a roll-out. */
const wanted = (kind: CreatorKind, props: Props) =>
  `(oldObject == null ? (${userVariable(props).expression}) : ${noted('oldObject', kind)})`;

function byUser(props: Props): MatchCondition {
  return {
    name: 'by-a-user',
    expression: `!${isOfJudgedOwner(props)}`,
  };
}

const hasHolder = ({ holder }: CreatorKind): MatchCondition => ({
  name: 'has-a-template',
  expression: holder.length === 0 ? 'true' : `has(object.${holder.join('.')})`,
});

export function creatorConditions(kind: CreatorKind, props: Props): readonly MatchCondition[] {
  return [
    byUser(props),
    hasHolder(kind),
    { name: 'wants-another-user', expression: `${noted('object', kind)} != ${wanted(kind, props)}` },
  ];
}

export function creatorPatch(kind: CreatorKind, props: Props): string {
  const user = wanted(kind, props);
  const at = `/${[...kind.holder, 'metadata'].join('/')}`;
  const metadata = `${pathOf('object', kind)}.metadata`;
  const entry = `${at}/annotations/${pointerToken(USER_ANNOTATION)}`;
  const map = `{${cel(USER_ANNOTATION)}: ${user}}`;
  return `
${user} == "" ? [JSONPatch{op: "remove", path: "${entry}"}]
: !has(${metadata}) ? [JSONPatch{op: "add", path: "${at}", value: {"annotations": ${map}}}]
: !has(${metadata}.annotations) ? [JSONPatch{op: "add", path: "${at}/annotations", value: ${map}}]
: [JSONPatch{op: "add", path: "${entry}", value: ${user}}]
`.trim();
}

/** Denies a user who claims that the pods of a template are another user's. */
export class CreatorGuard extends Construct {
  constructor(scope: Construct, id: string, props: Props = {}) {
    super(scope, id);
    for (const kind of CREATOR_KINDS) {
      const field = [...kind.holder, 'metadata'].join('.');
      const value = noted('object', kind);
      addGuard(this, `creator-${kind.name}`, props, {
        matchConstraints: {
          namespaceSelector: notExcluded(props),
          resourceRules: [
            {
              apiGroups: kind.apiGroups,
              apiVersions: [kind.version],
              operations: ['CREATE', 'UPDATE'],
              resources: kind.resources,
            },
          ],
        },
        matchConditions: [
          byUser(props),
          hasHolder(kind),
          { name: 'has-a-user', expression: `${value} != ""` },
        ],
        validations: [
          {
            expression: `${value} == ${wanted(kind, props)}`,
            message: setByQueue(`${field}.annotations["${USER_ANNOTATION}"]`),
          },
        ],
      });
    }
  }
}
