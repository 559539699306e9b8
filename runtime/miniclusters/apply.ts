/**
 * Server-side apply of the objects of a MiniCluster. A rejection by the
 * apiserver is returned with a message for the user; only errors that a retry
 * can cure are thrown.
 */
import { MANAGED_BY, MINICLUSTER_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { isWorkload, type Manifest, pathOf } from './manifests';
import { holderOf } from './name-check';
import type { Rejection } from './status';

/** Differs from the field manager of the queue, so that neither removes fields that the other one owns. */
const MINICLUSTER_MANAGER = 'fluxqueue-minicluster';

const MAX_MESSAGE_LENGTH = 400;

/** The apiserver compares an object with its MiniCluster in a cache, which may show that of a moment ago. */
export const NOT_SEEN_YET = 'NotSeenYet';
const MAY_LAG =
  /FLUXQ_MINICLUSTER_UNKNOWN|FLUXQ_MINICLUSTER_DIFFERS|FLUXQ_MINICLUSTER_TURN|no params found|not yet synced to use for admission/;

/** The apiserver says it of a later version, and nothing like it of another field manager. */
const CHANGED_SINCE = 'the object has been modified';

export interface Expected {
  /** Version of the object; a later one is a conflict. @default - any */
  readonly version?: string | undefined;
  /**
   * Whether the watch shows no such object. One that exists all the same may be running with a grant that the spec does not respect:
   * it only gets the labels by which the watch will show it.
   * @default false
   */
  readonly isUnseen?: boolean;
}

/**
 * Applies one object, unless an object of its name exists that the cluster does not own. Returns undefined if the
 * apiserver accepted it.
 * @param expected what is known of the object
 * @throws ApiError for errors that a retry can cure, FluxqError FLUXQ_MINICLUSTER_KIND
 */
export async function applyManifest(
  client: Pick<KubernetesClient, 'patch'>,
  manifest: Manifest,
  { namespace = '', uid }: { readonly namespace?: string; readonly uid: string },
  { version, isUnseen = false }: Expected = {},
): Promise<Rejection | undefined> {
  const object = `${manifest.kind} ${manifest.metadata.name}`;
  const path = pathOf(manifest, namespace);
  const holder = await holderOf(client, path, uid);
  if (holder === 'another')
    return {
      reason: 'NameTaken',
      message: `${object} exists and does not belong to this MiniCluster; rename the MiniCluster, or delete the object`,
    };
  try {
    if (isUnseen && holder === 'the cluster') {
      await client.patch(path, labelsOf(manifest), 'merge', { metadataOnly: true });
      return undefined;
    }
    const body = version === undefined ? manifest : atVersion(manifest, version);
    await client.patch(path, body, 'apply', {
      fieldManager: MINICLUSTER_MANAGER,
      // The workload is known to belong to this cluster. Other objects of the same name may be the user's.
      force: isWorkload(manifest),
      metadataOnly: true,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const rejection = rejectionOf(error, object);
    if (rejection === undefined) throw error;
    return rejection;
  }
}

/** By the first the watch finds it. */
function labelsOf({ metadata: { labels = {} } }: Manifest): object {
  const kept = [MINICLUSTER_LABEL, MANAGED_BY].map((key) => [key, labels[key]]);
  return { metadata: { labels: Object.fromEntries(kept) } };
}

function atVersion(manifest: Manifest, resourceVersion: string): object {
  return { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
}

function rejectionOf(error: ApiError, object: string): Rejection | undefined {
  const { status } = error;
  const cause = error.message.slice(0, MAX_MESSAGE_LENGTH);
  if (MAY_LAG.test(error.message)) return { reason: NOT_SEEN_YET, message: `${object}: ${cause}` };
  // The queue has released the Job meanwhile, or its user has changed it.
  if (status === 409 && error.message.includes(CHANGED_SINCE)) return undefined;
  if (status === 409)
    return { reason: 'NameTaken', message: `${object} conflicts with another field manager: ${cause}` };
  if (status === 403) return { reason: 'Forbidden', message: `${object}: ${cause}` };
  if (status !== 422 && status !== 400) return undefined;
  if (error.message.includes('Only one reference can have Controller set to true'))
    return {
      reason: 'NameTaken',
      message: `${object} already exists and has another controller; rename this MiniCluster`,
    };
  const fixed = error.message.indexOf('FLUXQ_MINICLUSTER_FIXED');
  if (fixed >= 0) return { reason: 'Immutable', message: `${object}: ${error.message.slice(fixed)}` };
  if (!error.message.includes('field is immutable'))
    return { reason: 'Rejected', message: `${object}: ${cause}` };
  return {
    reason: 'Immutable',
    message:
      `${object}: only the size of an existing Job can change${immutableFields(error.message)}; ` +
      'delete and recreate the MiniCluster, or revert the change',
  };
}

/** Names the fields only, because the message of the apiserver contains the whole template. */
function immutableFields(message: string): string {
  const fields = [...message.matchAll(/\b(spec(?:\.[A-Za-z]+)+): Invalid value/g)].map(([, field]) => field);
  return fields.length === 0 ? '' : ` (immutable: ${[...new Set(fields)].join(', ')})`;
}
