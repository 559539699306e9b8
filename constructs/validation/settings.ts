/** What admission refuses in the labels and annotations of a workload, with its own syntax and words, and what it would not see. */
import { parseDuration } from '../api/durations';
import {
  KEY_PREFIX,
  KNOWN_KEYS,
  nearestSetting,
  TEMPLATE_KEYS,
  TEMPLATE_PROBLEM,
  TEMPLATE_REMEDY,
  UNKNOWN_KEY_PROBLEM,
  unknownKeyRemedy,
} from '../api/known-keys';
import { CHECKPOINT_INTERVAL, GROUP_SIZE, NAMESPACE_LABEL, PRIORITY, QUEUE, WALLTIME } from '../api/labels';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import {
  GROUP_PAIR_PROBLEM,
  GROUP_PAIR_REMEDY,
  GROUP_SETTINGS,
  GROUP_SYNTAX,
  MAX_GROUP_SIZE,
  MAX_WALLTIME_SECONDS,
  NOT_OF_JOBS_PROBLEM,
  NOT_OF_JOBS_REMEDY,
  PRIORITY_RANGE,
  SETTING_REMEDY,
  SETTING_SYNTAX,
  type SettingSyntax,
} from '../api/settings';
import { isUnreadKey, UNREAD_KINDS, unreadProblem } from '../api/unread-settings';
import { isFluxSetup, type Manifest, Place, podSpec } from './manifest';

/**
 * Every mistake in the settings of an object.
 * @param objects all objects of the app, whose FluxSetups are the queues of their namespaces
 */
export function settingProblems(manifest: Manifest, objects: readonly Manifest[] = []): string[] {
  const queues = queuesOf(manifest.metadata.namespace, objects);
  const root = new Place(manifest, '');
  const key = `${manifest.apiVersion} ${manifest.kind}`;
  if (key === 'v1 Namespace')
    return namespaceProblems(root.field('metadata'), queuesOf(manifest.metadata.name, objects));
  const spec = podSpec(manifest);
  const unread = unreadProblems(manifest);
  if (spec === undefined) return unread;
  const job = { 'batch/v1 Job': '', 'batch/v1 CronJob': 'spec.jobTemplate' }[key];
  const parent = spec.path.slice(0, Math.max(0, spec.path.lastIndexOf('.')));
  const template = parent === '' ? root : root.field(parent);
  const node = spec.field('nodeName');
  const passes = node.exists ? [`${node.path}: would pass the queue by; use a nodeSelector instead`] : [];
  if (job === undefined)
    return [...unread, ...passes, ...pairProblems(template), ...settingsIn(template, queues)];
  const own = job === '' ? root : root.field(job);
  return [
    ...unread,
    ...passes,
    ...jobGroupProblems(own),
    ...settingsIn(own, queues),
    ...entriesOf(template.field('metadata')).flatMap(templateProblems),
  ];
}

/** Settings in the metadata of an object that is no workload. */
function unreadProblems(manifest: Manifest): string[] {
  const { kind, apiVersion } = manifest;
  if (UNREAD_KINDS[kind]?.apiVersion !== apiVersion) return [];
  const root = new Place(manifest, '');
  const templates = ['spec.template', 'spec.jobTemplate'].map((path) => root.field(path).field('metadata'));
  const inTemplates = kind === 'DaemonSet' ? [] : templates.flatMap(entriesOf);
  // In its labels or its annotations, as here.
  const isInTemplate = ([key, { path, value }]: Entry) =>
    inTemplates.some(([other, place]) => other === key && place.value === value && place.path.endsWith(path));
  return entriesOf(root.field('metadata'))
    .filter((entry) => isUnreadKey(kind, entry[0]) && !isInTemplate(entry))
    .map(([, { path }]) => `${path}: ${unreadProblem(kind)}`);
}

/**
 * The queues of a namespace, if this app gives it FluxSetups: what another repository makes is not known here, nor is the name of
 * the stack's own queue, which they may allow.
 */
function queuesOf(namespace: string | undefined, objects: readonly Manifest[]): readonly string[] {
  const own = objects.filter((each) => isFluxSetup(each) && each.metadata.namespace === namespace);
  const allowsOther = own.some((each) => new Place(each, '').field('spec.allowStackQueue').value === true);
  return allowsOther ? [] : own.map(({ metadata }) => metadata.name);
}

/** @param queues empty: they are not known */
function settingsIn(object: Place, queues: readonly string[]): string[] {
  return entriesOf(object.field('metadata')).flatMap((entry) => {
    const problems = valueProblems(entry);
    return problems.length > 0 ? problems : unknownQueue(entry, queues);
  });
}

function jobGroupProblems(job: Place): string[] {
  return entriesOf(job.field('metadata'))
    .filter(([key]) => isGroupSetting(key))
    .map(([, { path }]) => `${path}: ${NOT_OF_JOBS_PROBLEM}; ${NOT_OF_JOBS_REMEDY}`);
}

/** Neither of the two has an effect without the other. */
function pairProblems(pod: Place): string[] {
  const given = entriesOf(pod.field('metadata'));
  const keys = new Set(given.map(([key]) => key));
  if (GROUP_SETTINGS.every((key) => keys.has(key))) return [];
  return given.flatMap(([key, { path }]) =>
    isGroupSetting(key) ? [`${path}: ${GROUP_PAIR_PROBLEM[key]}; ${GROUP_PAIR_REMEDY}`] : [],
  );
}

function isGroupSetting(key: string): key is (typeof GROUP_SETTINGS)[number] {
  return (GROUP_SETTINGS as readonly string[]).includes(key);
}

function unknownQueue([key, { value, path }]: Entry, queues: readonly string[]): string[] {
  if (key !== QUEUE || queues.length === 0 || queues.includes(String(value))) return [];
  return [
    `${path}: must be a FluxSetup of its namespace, which has ${queues.join(', ')} (got ${JSON.stringify(value)}); ${SETTING_REMEDY}`,
  ];
}

const SYNTAX: Readonly<Record<string, SettingSyntax | undefined>> = { ...SETTING_SYNTAX, ...GROUP_SYNTAX };

type Entry = readonly [key: string, place: Place];

/** The labels and annotations that begin with `fluxqueue/`. */
function entriesOf(metadata: Place): readonly Entry[] {
  return ['labels', 'annotations']
    .flatMap((map) => metadata.field(map).entries())
    .filter(([key]) => key.startsWith(KEY_PREFIX));
}

/** @param queues of the namespace; empty: they are not known */
function namespaceProblems(metadata: Place, queues: readonly string[]): string[] {
  const labels = metadata.field('labels');
  return [
    ...entriesOf(metadata).flatMap((entry) => namespaceLabelProblems(entry, labels, queues)),
    ...queueLabelProblems(labels, queues),
  ];
}

function namespaceLabelProblems(entry: Entry, labels: Place, queues: readonly string[]): string[] {
  const [key, { value, path }] = entry;
  if (key === QUEUE && path.startsWith(labels.path)) {
    const problems = valueProblems(entry);
    return problems.length > 0 ? problems : unknownQueue(entry, queues);
  }
  if (key !== NAMESPACE_LABEL)
    return [`${path}: is not a label of a namespace; ${NAMESPACE_LABEL} and ${QUEUE} are`];
  return value === 'true' || value === 'false'
    ? []
    : [`${path}: must be "true" (got ${JSON.stringify(value)})`];
}

/** In one go with its FluxSetup and Jobs, the Jobs may come first. */
function queueLabelProblems(labels: Place, queues: readonly string[]): string[] {
  const labelOf = (key: string) => labels.entries().find(([label]) => label === key)?.[1].value;
  if (labelOf(NAMESPACE_LABEL) !== 'true' || queues.length === 0) return [];
  const label = labelOf(QUEUE);
  const { queueName } = STACK_DEFAULTS;
  if (label === queueName && queues.includes(queueName))
    return [
      `${labels.path}: ${QUEUE}: ${queueName} means the stack's own queue to Jobs that are applied before FluxSetup ${queueName}, so they start without its quota; give the FluxSetup another name`,
    ];
  if (label !== undefined) return [];
  const remedy = queues.includes(queueName)
    ? `rename FluxSetup ${queueName}, which is the name of the stack's own queue, and add ${QUEUE} with its name`
    : `add ${QUEUE}: ${queues[0]}`;
  return [
    `${labels.path}: ${QUEUE} is missing, so Jobs that are applied before FluxSetup ${queues[0]} start without its quota; ${remedy}`,
  ];
}

function templateProblems([key, { path }]: Entry): string[] {
  return TEMPLATE_KEYS.includes(key) ? [] : [`${path}: ${TEMPLATE_PROBLEM}; ${TEMPLATE_REMEDY}`];
}

function valueProblems([key, { value, path }]: Entry): string[] {
  if (!KNOWN_KEYS.includes(key))
    return [`${path}: ${UNKNOWN_KEY_PROBLEM}; ${unknownKeyRemedy(nearestSetting(key))}`];
  const syntax = SYNTAX[key];
  const text = String(value);
  if (syntax === undefined || (new RegExp(syntax.pattern).test(text) && isInRange(key, text))) return [];
  return [`${path}: ${syntax.requirement} (got ${JSON.stringify(value)}); ${SETTING_REMEDY}`];
}

function isInRange(key: string, text: string): boolean {
  if (key === PRIORITY) return Number(text) >= PRIORITY_RANGE.min && Number(text) <= PRIORITY_RANGE.max;
  if (key === GROUP_SIZE) return Number(text) <= MAX_GROUP_SIZE;
  if (key !== WALLTIME && key !== CHECKPOINT_INTERVAL) return true;
  const seconds = parseDuration(text) ?? 0;
  return seconds > 0 && seconds <= MAX_WALLTIME_SECONDS;
}
