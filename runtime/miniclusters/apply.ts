/**
 * Server-side apply of what a MiniCluster consists of. That the apiserver will
 * not have something is an answer, in words for the user; only what may be
 * otherwise in a moment is thrown.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { isWorkload, type Manifest, pathOf } from './manifests';
import type { Refusal } from './status';

/** Not the queue's own manager: what one of them no longer says must not take away what the other does. */
const MINICLUSTER_MANAGER = 'fluxqueue-minicluster';

const LONGEST_REASON = 400;

/** @returns undefined: it is as asked for */
export async function applyManifest(
  client: Pick<KubernetesClient, 'patch'>,
  manifest: Manifest,
  namespace: string,
): Promise<Refusal | undefined> {
  const what = `${manifest.kind} ${manifest.metadata.name}`;
  try {
    await client.patch(pathOf(manifest, namespace), manifest, 'apply', {
      fieldManager: MINICLUSTER_MANAGER,
      // Its workload is known to be this cluster's own; of the others a user's object of that name must survive.
      force: isWorkload(manifest),
      metadataOnly: true,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const refusal = refusalOf(error, what);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

function refusalOf(error: ApiError, what: string): Refusal | undefined {
  const { status } = error;
  const why = error.message.slice(0, LONGEST_REASON);
  if (status === 409) return { reason: 'NameTaken', message: `${what} is managed by somebody else: ${why}` };
  if (status === 403) return { reason: 'Forbidden', message: `${what}: ${why}` };
  if (status !== 422 && status !== 400) return undefined;
  if (error.message.includes('Only one reference can have Controller set to true'))
    return {
      reason: 'NameTaken',
      message: `${what} belongs to something else; give this MiniCluster another name`,
    };
  if (!error.message.includes('field is immutable'))
    return { reason: 'Rejected', message: `${what}: ${why}` };
  return {
    reason: 'Immutable',
    message:
      `${what}: Kubernetes lets nothing but the size of a Job change once it is there` +
      `${immutableFields(error.message)}; delete the MiniCluster and apply it anew, or take the change back`,
  };
}

/** The message holds the whole template; its user knows that. */
function immutableFields(message: string): string {
  const fields = [...message.matchAll(/\b(spec(?:\.[A-Za-z]+)+): Invalid value/g)].map(([, field]) => field);
  return fields.length === 0 ? '' : ` (refused: ${[...new Set(fields)].join(', ')})`;
}
