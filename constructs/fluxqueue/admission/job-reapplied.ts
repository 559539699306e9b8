/**
 * CEL that puts back what is the queue's in a Job, or in an object of a workload kind, that its user updates (docs/edits.md): a manifest that is applied again
 * drops or overwrites it, and means nothing by it. runtime/admission/reapplied.ts has the same rules.
 */
import { pointerToken } from '../../api/json-pointer';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  HOLD,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../api/labels';
import { type FieldPath, JOB_SUSPEND } from '../../api/workload-kinds';
import { cel, fieldOr, setField, type Variable } from './scope';

/** CEL: the annotation of an object, or "". */
export const annotation = (object: string, key: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue("")`;
/** CEL: the label of an object, or "". */
export const label = (object: string, key: string) => `${object}.metadata.?labels[?${cel(key)}].orValue("")`;
/** CEL: whether the field holds the object. */
export const suspended = (object: string, suspend: FieldPath = JOB_SUSPEND) =>
  fieldOr(object, suspend, 'false');
/** Annotations of the template as a map; Kubernetes lets a template change before the start of its Job. */
const inTemplate = (object: string) => `${object}.spec.template.?metadata.?annotations.orValue({})`;

/** What of an object is the queue's. */
export interface QueueFields {
  /** The field that holds it. */
  readonly suspend: FieldPath;
  /** Annotations that have the value that the queue or admission gave them. */
  readonly kept: readonly string[];
  /** Annotations of its pod template that are not dropped. */
  readonly inTemplate: readonly string[];
}

export const OF_JOBS: QueueFields = {
  suspend: JOB_SUSPEND,
  kept: [USER_ANNOTATION, DEADLINE_ANNOTATION],
  inTemplate: [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION],
};

/** A value of a user's own is refused by the guard; only a dropped one is put back. */
const dropped = (key: string) =>
  `(${cel(key)} in ${inTemplate('oldObject')} && !(${cel(key)} in ${inTemplate('object')}))`;

export const WAS_ADMITTED = `${label('oldObject', ADMITTED_LABEL)} == "true"`;

/** Whether the update touches what is the queue's. */
export const touchesTheQueue = ({ suspend, kept: keys, inTemplate: ofTemplate }: QueueFields) =>
  [
    `${suspended('object', suspend)} != ${suspended('oldObject', suspend)}`,
    `${label('object', ADMITTED_LABEL)} != "true"`,
    ...[...keys, SUSPEND_ANNOTATION].map(
      (key) => `${annotation('object', key)} != ${annotation('oldObject', key)}`,
    ),
    ...ofTemplate.map(dropped),
    `${annotation('object', IGNORED_ANNOTATION)} != ""`,
  ].join(' || ');

/** CEL: the key, in a list, if the update has a value of its own. A manifest that drops it means nothing by it. */
const ifOverwritten = (key: string, [now, ...ours]: readonly string[]) =>
  `(${now} in ["", ${ours.join(', ')}] ? [] : [${cel(key)}])`;

/**
 * `spec.suspend` is the queue's, so the value of an update is the user's wish only if it differs both from the queue's value
 * and from the user's last wish, which SUSPEND_ANNOTATION notes. A hold says more than a suspension.
 */
export const reappliedVariables = ({ suspend, kept: keys }: QueueFields): readonly Variable[] => [
  { name: 'is', expression: suspended('object', suspend) },
  { name: 'was', expression: suspended('oldObject', suspend) },
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
  {
    name: 'overwritten',
    expression: [
      ifOverwritten(ADMITTED_LABEL, [label('object', ADMITTED_LABEL), '"true"']),
      ...keys.map((key) =>
        ifOverwritten(
          key,
          ['object', 'oldObject'].map((it) => annotation(it, key)),
        ),
      ),
      ifOverwritten(SUSPEND_ANNOTATION, [
        ...['object', 'oldObject'].map((it) => annotation(it, SUSPEND_ANNOTATION)),
        'variables.wish',
      ]),
    ].join(' + '),
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

function suspensionPatch(suspend: FieldPath): string {
  const value = 'variables.was || variables.stops';
  return `(variables.is != (${value}) ? ${setField(suspend, value)} : [])`;
}

/** JSON patch that uses these variables. */
export const reappliedPatch = ({ suspend, kept: keys, inTemplate: ofTemplate }: QueueFields) =>
  [
    suspensionPatch(suspend),
    map('metadata.labels', LABELS),
    add(
      `${label('object', ADMITTED_LABEL)} != "true"`,
      `${LABELS}/${pointerToken(ADMITTED_LABEL)}`,
      '"true"',
    ),
    add('variables.holds', HOLD_PATH, '"true"'),
    remove(`variables.resumes && variables.noted == "held" && ${label('object', HOLD)} == "true"`, HOLD_PATH),
    map('metadata.annotations', ANNOTATIONS),
    ...keys.map((key) => kept(ANNOTATIONS, key, annotation('oldObject', key))),
    kept(ANNOTATIONS, SUSPEND_ANNOTATION, 'variables.wish'),
    ...(ofTemplate.length === 0
      ? []
      : [
          map('spec.template.metadata', TEMPLATE),
          map('spec.template.metadata.annotations', `${TEMPLATE}/annotations`),
        ]),
    ...ofTemplate.map((key) =>
      add(
        dropped(key),
        `${TEMPLATE}/annotations/${pointerToken(key)}`,
        `${inTemplate('oldObject')}[${cel(key)}]`,
      ),
    ),
  ].join('\n+ ');
