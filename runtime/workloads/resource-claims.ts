/**
 * Resource claims that pods name and that do not exist, or are being deleted. kube-scheduler takes such a pod not even into its queue and says
 * nothing about it, so the watch over grants asks the apiserver.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { resourceClaims, resourceClaimTemplates } from '../kubernetes/paths';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { GrantReason } from '../shared/grant-waits';
import type { PodWait } from './pod-wait';

interface Reference {
  readonly kind: 'resourceclaim' | 'resourceclaimtemplate';
  readonly name: string;
  readonly path: string;
}

/** Reasons of waits about which kube-scheduler has said nothing. */
const SILENT: ReadonlySet<string> = new Set<GrantReason>(['Pending', 'VolumesUnbound', 'SchedulerMissing']);

/** Whether the pod waits, kube-scheduler has not said for what, and it names resource claims. */
export function mayLackClaims({ spec }: Pod, wait: PodWait | undefined): boolean {
  const isSilent = wait !== undefined && !wait.isBound && SILENT.has(wait.reason);
  return isSilent && (spec.resourceClaims ?? []).length > 0;
}

/** Looks claims up, each of them once: the pods of a gang name the same ones. */
export class ClaimLookup {
  private readonly lacks = new Map<string, Promise<string | undefined>>();

  constructor(private readonly client: KubernetesClient) {}

  /** What the pod lacks, as kube-scheduler would say it; undefined if it lacks nothing. */
  async lackOf(pod: Pod): Promise<string | undefined> {
    for (const reference of referencesOf(pod)) {
      const lack = await this.find(reference);
      if (lack !== undefined) return `${reference.kind} "${reference.name}" ${lack}`;
    }
    return undefined;
  }

  private find(reference: Reference): Promise<string | undefined> {
    const known = this.lacks.get(reference.path) ?? this.ask(reference);
    this.lacks.set(reference.path, known);
    return known;
  }

  private async ask({ kind, path, name }: Reference): Promise<string | undefined> {
    try {
      const { metadata } = await this.client.get<Pick<KubernetesObject, 'metadata'>>(path, {
        metadataOnly: true,
      });
      // A claim with a finalizer may stay for ever. Of such a template claims are still made.
      return kind === 'resourceclaim' && metadata.deletionTimestamp !== undefined
        ? 'is being deleted'
        : undefined;
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      // Without its name the answer means that the apiserver does not serve this API.
      return error.message.includes(`"${name}"`) ? 'not found' : undefined;
    }
  }
}

/** A template matters until the claim that is made from it has a name in the pod's status. */
function referencesOf({ metadata, spec, status }: Pod): readonly Reference[] {
  const created = new Set(status?.resourceClaimStatuses?.map(({ name }) => name));
  return (spec.resourceClaims ?? []).flatMap(
    ({ name: entry, resourceClaimName: claim, resourceClaimTemplateName: template }): Reference[] => {
      if (claim !== undefined)
        return [{ kind: 'resourceclaim', name: claim, path: resourceClaims(metadata.namespace, claim) }];
      if (template === undefined || created.has(entry)) return [];
      const path = resourceClaimTemplates(metadata.namespace, template);
      return [{ kind: 'resourceclaimtemplate', name: template, path }];
    },
  );
}
