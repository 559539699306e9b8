/**
 * CEL of the mutating policy for Pods. runtime/admission/pods.ts has the same rules, runtime/workloads/assignment.ts the
 * same lookup.
 *
 * An assignment of 5,000 pods to 1,250 nodes is a text of 76 kB, and each of the pods looks it up. The expressions only
 * split it and match it from its start: CEL's substring and indexOf copy the whole text, and one lookup took 5 ms.
 */
import { pointerToken } from '../../api/json-pointer';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  OWNER_ANNOTATION,
} from '../../api/labels';
import { NODE_NAME_PATTERN } from '../../api/node-name';
import { LWS_GROUP, LWS_PATCH } from './leader-worker-sets';
import { type AdmissionScopeProps, cel, FROM_JOB, ownerOfKind, type Variable } from './scope';
import { USER_PATCH } from './user-mutation';

/** Start of a group, `START/STRIDE:`. */
const HEAD = '^[0-9]{1,9}/[1-9][0-9]{0,8}:';

/** The node that the assignment gives to the pod; "" if none. It needs the variable `annotations`. */
export const ASSIGNED_NODE: readonly Variable[] = [
  { name: 'assignment', expression: `variables.annotations[?${cel(ASSIGNMENT_ANNOTATION)}].orValue("")` },
  {
    name: 'index',
    expression: `variables.annotations[?${cel(COMPLETION_INDEX_ANNOTATION)}].orValue("")`,
  },
  // An annotation that is empty or not an assignment has no groups, and the pod is gated.
  {
    name: 'groups',
    expression: `variables.assignment.split(";").filter(group, group.matches(${cel(HEAD)}))`,
  },
  {
    name: 'candidates',
    expression:
      'variables.index.matches("^[0-9]{1,9}$") ? ' +
      'variables.groups.filter(group, int(group.find("^[0-9]+")) <= int(variables.index)) : []',
  },
  {
    name: 'group',
    expression:
      'variables.candidates.size() > 0 ? variables.candidates[variables.candidates.size() - 1] : ""',
  },
  { name: 'head', expression: 'variables.group.find("^[0-9]+/[0-9]+").split("/")' },
  {
    name: 'nodes',
    expression: 'variables.group == "" ? [] : variables.group.split(":", 2)[1].split(",")',
  },
  {
    name: 'rank',
    expression:
      'variables.group == "" ? 0 : (int(variables.index) - int(variables.head[0])) / int(variables.head[1])',
  },
  {
    // Each variable costs time, and most pods have no index.
    name: 'indexed',
    expression:
      `variables.index != "" && variables.rank < variables.nodes.size() && variables.nodes[variables.rank].matches(${cel(NODE_NAME_PATTERN)}) ` +
      '? variables.nodes[variables.rank] : ""',
  },
  {
    // Only of pods without an index: an index that the assignment does not list is no pod of the grant.
    name: 'sole',
    expression:
      'variables.index == "" && variables.groups.size() == 1 ? variables.groups[0].split(":", 2)[1] : ""',
  },
  {
    name: 'node',
    expression:
      'variables.indexed != "" ? variables.indexed : ' +
      `(variables.sole.size() < 254 && variables.sole.matches(${cel(NODE_NAME_PATTERN)}) ? variables.sole : "")`,
  },
];

export const podVariables = (props: AdmissionScopeProps): readonly Variable[] => [
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  ...ASSIGNED_NODE,
  LWS_GROUP,
  {
    // A pod of a Job has it from the template, where admission wrote it.
    name: 'madeFor',
    expression: `${FROM_JOB} ? variables.annotations[?${cel(OWNER_ANNOTATION)}].orValue("") : ${ownerOfKind(props)}`,
  },
  {
    name: 'terms',
    expression:
      'object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])',
  },
];

const AFFINITY = 'Object.spec.affinity';
const NODE_AFFINITY = `${AFFINITY}.nodeAffinity`;
const REQUIRED = `${NODE_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution`;
const TERM = `${REQUIRED}.nodeSelectorTerms`;
const TERMS_PATH =
  '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms';

// JSON patches, because ApplyConfiguration replaces whole lists. Their values are typed objects, because all values of a
// CEL map have one type.
const onNode = `${TERM}.matchFields{key: "metadata.name", operator: "In", values: [variables.node]}`;
const required = `${REQUIRED}{nodeSelectorTerms: [${TERM}{matchFields: [${onNode}]}]}`;
const nodeAffinity = `${NODE_AFFINITY}{requiredDuringSchedulingIgnoredDuringExecution: ${required}}`;
const affinity = `${AFFINITY}{nodeAffinity: ${nodeAffinity}}`;

/** An empty term matches no node and is not changed; a term that already has the entry does not get a second one. */
const termWantsPin = `
(term.?matchFields.orValue([]).size() > 0 || term.?matchExpressions.orValue([]).size() > 0)
  && !term.?matchFields.orValue([]).exists(field, field.key == "metadata.name" && field.operator == "In"
    && field.?values.orValue([]) == [variables.node])
`.trim();

const PIN = `
!has(object.spec.affinity) ? [JSONPatch{op: "add", path: "/spec/affinity", value: ${affinity}}]
: !has(object.spec.affinity.nodeAffinity) ? [JSONPatch{op: "add", path: "/spec/affinity/nodeAffinity", value: ${nodeAffinity}}]
: !has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
  ? [JSONPatch{op: "add", path: "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", value: ${required}}]
: variables.terms.transformList(i, term, ${termWantsPin}, has(term.matchFields)
    ? JSONPatch{op: "add", path: "${TERMS_PATH}/" + string(i) + "/matchFields/-", value: ${onNode}}
    : JSONPatch{op: "add", path: "${TERMS_PATH}/" + string(i) + "/matchFields", value: [${onNode}]})
`.trim();

/** A pod keeps only its own node: the complete assignment in each of 5,000 pods would need 380 MB in etcd. */
const OWN_PART = `
(variables.indexed == "" ? [] : [JSONPatch{op: "add", path: "/metadata/annotations/${pointerToken(ASSIGNMENT_ANNOTATION)}",
  value: string(int(variables.index)) + "/1:" + variables.indexed}])
`.trim();

const OWNER_PATH = `/metadata/annotations/${pointerToken(OWNER_ANNOTATION)}`;

/** After the patch of the user, which may have made the map. */
const OWNER_PATCH = `
(variables.annotations[?${cel(OWNER_ANNOTATION)}].orValue("") == variables.madeFor ? []
  : variables.madeFor == "" ? [JSONPatch{op: "remove", path: "${OWNER_PATH}"}]
  : has(object.metadata.annotations) || (!variables.carriesUser && variables.user != "")
  ? [JSONPatch{op: "add", path: "${OWNER_PATH}", value: variables.madeFor}]
  : [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(OWNER_ANNOTATION)}: variables.madeFor}}])
`.trim();

const gate = `Object.spec.schedulingGates{name: ${cel(GATE)}}`;
const GATING = `
(has(object.metadata.labels)
  ? [JSONPatch{op: "add", path: "/metadata/labels/${pointerToken(ADMITTED_LABEL)}", value: "true"}]
  : [JSONPatch{op: "add", path: "/metadata/labels", value: {${cel(ADMITTED_LABEL)}: "true"}}])
+ (!has(object.spec.schedulingGates) ? [JSONPatch{op: "add", path: "/spec/schedulingGates", value: [${gate}]}]
  : object.spec.schedulingGates.exists(g, g.name == ${cel(GATE)}) ? []
  : [JSONPatch{op: "add", path: "/spec/schedulingGates/-", value: ${gate}}])
+ ${USER_PATCH}
+ ${OWNER_PATCH}
+ ${LWS_PATCH}
`.trim();

/** @param schedulerName scheduler of pods that request the default scheduler; undefined leaves schedulerName unchanged */
export function podPatch(schedulerName: string | undefined): string {
  const pinOrGate = `(variables.node != "" ? (${PIN}) + ${OWN_PART} : (${GATING}))`;
  if (schedulerName === undefined) return pinOrGate;
  const chosen = `[JSONPatch{op: "add", path: "/spec/schedulerName", value: ${cel(schedulerName)}}]`;
  return `${pinOrGate}
+ (object.spec.?schedulerName.orValue("default-scheduler") == "default-scheduler" ? ${chosen} : [])`;
}
