/** Notes the person who creates an object for which controllers create Jobs and pods (constructs/api/creators.ts). */
import { CREATOR_KINDS, type CreatorKind } from '../../constructs/api/creators';
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type JsonPatch, patchEntries } from '../kubernetes/json-patch';
import type { Metadata } from './review';
import { isController, type UserOptions } from './user';

const BY_KIND: ReadonlyMap<string, CreatorKind> = new Map(
  CREATOR_KINDS.flatMap((kind) => kind.kinds.map((name) => [name, kind] as const)),
);

/** @param kind `GROUP/VERSION/KIND` */
export function creatorKind(kind: string): CreatorKind | undefined {
  return BY_KIND.get(kind);
}

/** The webhook configuration excludes requests of controllers. @param old the object before an UPDATE */
export function noteCreator(
  { holder }: CreatorKind,
  object: unknown,
  old: unknown,
  username: string,
  options: UserOptions = {},
): JsonPatch[] {
  const metadata = metadataIn(object, holder);
  const wanted = old === undefined ? creator(username, options) : notedIn(metadataIn(old, holder));
  if (notedIn(metadata) === wanted) return [];
  const path = `/${[...holder, 'metadata'].join('/')}`;
  const annotations = { [USER_ANNOTATION]: wanted || undefined };
  if (metadata === undefined) return [{ op: 'add', path, value: { annotations } }];
  return patchEntries(`${path}/annotations`, metadata.annotations, annotations);
}

function creator(username: string, options: UserOptions): string {
  return isController(username, options) ? '' : username;
}

function notedIn(metadata: Metadata | undefined): string {
  return metadata?.annotations?.[USER_ANNOTATION] ?? '';
}

function metadataIn(object: unknown, holder: readonly string[]): Metadata | undefined {
  const at = [...holder, 'metadata'].reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    object,
  );
  return at as Metadata | undefined;
}
