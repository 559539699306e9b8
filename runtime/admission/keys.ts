/** Refuses settings that would be ignored: misspelled keys, and settings in the template of a Job. */
import {
  KEY_PREFIX,
  KNOWN_KEYS,
  nearestSetting,
  TEMPLATE_KEYS,
  TEMPLATE_PROBLEM,
  TEMPLATE_REMEDY,
  UNKNOWN_KEY_PROBLEM,
  unknownKeyRemedy,
} from '../../constructs/api/known-keys';
import { FluxqError } from '../errors';
import type { Metadata } from './review';

/** @throws FluxqError FLUXQ_SETTING_INVALID for a key of ours that nobody reads */
export function checkKeys(metadata: Metadata | undefined): void {
  const found = firstKey(metadata, KNOWN_KEYS);
  if (found === undefined) return;
  const { key, map } = found;
  throw new FluxqError('FLUXQ_SETTING_INVALID', UNKNOWN_KEY_PROBLEM, {
    field: `metadata.${map}["${key}"]`,
    remedy: unknownKeyRemedy(nearestSetting(key)),
  });
}

/** @throws FluxqError FLUXQ_SETTING_INVALID for a setting in the template, which only the metadata of the Job can have */
export function checkTemplateKeys(metadata: Metadata | undefined): void {
  const found = firstKey(metadata, TEMPLATE_KEYS);
  if (found === undefined) return;
  throw new FluxqError('FLUXQ_SETTING_INVALID', TEMPLATE_PROBLEM, {
    field: `spec.template.metadata.${found.map}["${found.key}"]`,
    remedy: TEMPLATE_REMEDY,
  });
}

/** The first key by name that is not among these, of the annotations before the labels. */
function firstKey(metadata: Metadata | undefined, known: readonly string[]) {
  for (const map of ['annotations', 'labels'] as const) {
    const keys = Object.keys(metadata?.[map] ?? {}).filter(
      (each) => each.startsWith(KEY_PREFIX) && !known.includes(each),
    );
    const [key] = keys.sort();
    if (key !== undefined) return { key, map };
  }
  return undefined;
}
