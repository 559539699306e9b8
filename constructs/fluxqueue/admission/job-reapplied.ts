/**
 * CEL that puts back what is the queue's in a Job that its user updates (docs/edits.md): a manifest that is applied again
 * drops or overwrites it, and means nothing by it. runtime/admission/reapplied.ts has the same rules.
 */
import { pointerToken } from '../../api/json-pointer';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  HOLD,
  JOBID_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../api/labels';
import { cel, type Variable } from './scope';

/** CEL: the annotation of an object, or "". */
export const annotation = (object: string, key: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue("")`;
/** CEL: the label of an object, or "". */
export const label = (object: string, key: string) => `${object}.metadata.?labels[?${cel(key)}].orValue("")`;
const suspended = (object: string) => `${object}.spec.?suspend.orValue(false)`;
/** Annotations of the template as a map; Kubernetes lets a template change before the start of its Job. */
const inTemplate = (object: string) => `${object}.spec.template.?metadata.?annotations.orValue({})`;

/** Annotations that have the value that the queue or admission gave them. */
const KEPT = [USER_ANNOTATION, DEADLINE_ANNOTATION];
const IN_TEMPLATE = [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION];

/** A value of a user's own is refused by the guard; only a dropped one is put back. */
const dropped = (key: string) =>
  `(${cel(key)} in ${inTemplate('oldObject')} && !(${cel(key)} in ${inTemplate('object')}))`;

export const WAS_ADMITTED = `${label('oldObject', ADMITTED_LABEL)} == "true"`;

/** Whether the update touches what is the queue's. */
export const TOUCHES_THE_QUEUE = [
  `${suspended('object')} != ${suspended('oldObject')}`,
  `${label('object', ADMITTED_LABEL)} != "true"`,
  ...[...KEPT, SUSPEND_ANNOTATION].map(
    (key) => `${annotation('object', key)} != ${annotation('oldObject', key)}`,
  ),
  ...IN_TEMPLATE.map(dropped),
].join(' || ');

/**
 * `spec.suspend` is the queue's, so the value of an update is the user's wish only if it differs both from the queue's value
 * and from the user's last wish, which SUSPEND_ANNOTATION notes. A hold says more than a suspension.
 */
export const REAPPLIED_VARIABLES: readonly Variable[] = [
  { name: 'is', expression: suspended('object') },
  { name: 'was', expression: suspended('oldObject') },
  { name: 'noted', expression: annotation('oldObject', SUSPEND_ANNOTATION) },
  {
    name: 'hold',
    expression: `object.metadata.?annotations[?${cel(HOLD)}].orValue(${label('object', HOLD)})`,
  },
  { name: 'resumes', expression: 'variables.was && !variables.is && variables.noted != ""' },
  {
    name: 'stops',
    expression:
      '!variables.was && variables.is && variables.hold != "false" && (variables.noted == "" || variables.hold == "true")',
  },
  {
    name: 'wish',
    expression:
      'variables.resumes ? "" : variables.noted != "" || variables.was || !variables.is ? variables.noted : ' +
      'variables.stops && variables.hold == "" ? "held" : "true"',
  },
  {
    // An update that drops all labels drops also the hold of admission, which a user lifts by its own name.
    name: 'holds',
    expression:
      'variables.wish == "held" && (variables.stops ? variables.hold == "" : ' +
      `${label('oldObject', HOLD)} == "true" && !(${cel(ADMITTED_LABEL)} in object.metadata.?labels.orValue({})))`,
  },
];

const LABELS = '/metadata/labels';
export const ANNOTATIONS = '/metadata/annotations';
const TEMPLATE = '/spec/template/metadata';

function map(field: string, path: string): string {
  return `(has(object.${field}) ? [] : [JSONPatch{op: "add", path: "${path}", value: {}}])`;
}

/** Operations that give an annotation this value; "" removes it. */
export function kept(path: string, key: string, value: string): string {
  const at = `${path}/${pointerToken(key)}`;
  const has = `${cel(key)} in object.metadata.?annotations.orValue({})`;
  return (
    `(${annotation('object', key)} == ${value} ? [] : ` +
    `${value} != "" ? [JSONPatch{op: "add", path: "${at}", value: ${value}}] : ` +
    `${has} ? [JSONPatch{op: "remove", path: "${at}"}] : [])`
  );
}

const add = (when: string, path: string, value: string) =>
  `(${when} ? [JSONPatch{op: "add", path: "${path}", value: ${value}}] : [])`;
const remove = (when: string, path: string) => `(${when} ? [JSONPatch{op: "remove", path: "${path}"}] : [])`;
const HOLD_PATH = `${LABELS}/${pointerToken(HOLD)}`;

/** JSON patch that uses these variables. */
export const REAPPLIED_PATCH = [
  add(
    'variables.is != (variables.was || variables.stops)',
    '/spec/suspend',
    'variables.was || variables.stops',
  ),
  map('metadata.labels', LABELS),
  add(`${label('object', ADMITTED_LABEL)} != "true"`, `${LABELS}/${pointerToken(ADMITTED_LABEL)}`, '"true"'),
  add('variables.holds', HOLD_PATH, '"true"'),
  remove(`variables.resumes && variables.noted == "held" && ${label('object', HOLD)} == "true"`, HOLD_PATH),
  map('metadata.annotations', ANNOTATIONS),
  ...KEPT.map((key) => kept(ANNOTATIONS, key, annotation('oldObject', key))),
  kept(ANNOTATIONS, SUSPEND_ANNOTATION, 'variables.wish'),
  map('spec.template.metadata', TEMPLATE),
  map('spec.template.metadata.annotations', `${TEMPLATE}/annotations`),
  ...IN_TEMPLATE.map((key) =>
    add(
      dropped(key),
      `${TEMPLATE}/annotations/${pointerToken(key)}`,
      `${inTemplate('oldObject')}[${cel(key)}]`,
    ),
  ),
].join('\n+ ');
