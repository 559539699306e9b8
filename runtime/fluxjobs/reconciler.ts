/**
 * Keeps the FluxJob of every row equal to it. Users watch FluxJobs; nothing is
 * decided by them, so their writes may be late and few: what passes quickly
 * (granted, released) is not written at all. An ordinary job costs a create and
 * two status writes.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER, FLUXJOB_GROUP, FLUXJOB_VERSION } from '../../constructs/api/labels';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { mergePatchOf } from '../kubernetes/merge-patch';
import { namespaced } from '../kubernetes/paths';
import { RateLimiter } from '../kubernetes/rate-limiter';
import type { KubernetesObject } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadAdapter } from '../workloads/adapter';
import { fluxJobName, fluxJobSpec, fluxJobStatus } from './status';

export const fluxJobs = namespaced(FLUXJOB_GROUP, FLUXJOB_VERSION, 'fluxjobs');

export interface FluxJobObject extends KubernetesObject {
  readonly spec: FluxJobProps['spec'];
  readonly status?: FluxJobStatus;
}

export interface FluxJobReconcilerOptions {
  readonly client: KubernetesClient;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The row of this uid, active or just finished. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
  /** Place in its queue of a waiting row, 1 is next. */
  readonly positionOf: (uid: string) => number | undefined;
  /** As last seen. */
  readonly seen: (namespace: string, name: string) => FluxJobObject | undefined;
  /** Whether many workloads start and end just now. */
  readonly busy: () => boolean;
  /** The final status of a finished row is written: nobody needs it any more. */
  readonly onSettled: (uid: string) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

/**
 * Writes per second. While many workloads start and end, the apiserver's time belongs to them: the two writes of a FluxJob
 * cost it a quarter of what the whole Job costs. No record lags more than about two minutes behind.
 */
const PACE = { busy: 4, quiet: 100 };
const BURST = 10;
const MOST_LAG_SECONDS = 120;

/** Seconds a phase must last before it is worth a write. */
const WORTH_WRITING: Readonly<Record<WorkloadRow['phase'], number>> = {
  Waiting: 1.5,
  Ready: 5,
  Running: 1,
  Finished: 0,
};

type Next = { readonly after: number } | undefined;

export class FluxJobReconciler {
  /** What was written last by us, where the watch may lag behind. */
  private readonly written = new Map<string, Written>();
  private readonly pace = new RateLimiter(
    (waiting) => Math.max(this.options.busy() ? PACE.busy : PACE.quiet, waiting / MOST_LAG_SECONDS),
    BURST,
  );

  constructor(private readonly options: FluxJobReconcilerOptions) {}

  /** @param uid of the workload */
  async reconcile(uid: string): Promise<Next> {
    const row = this.options.rowOf(uid);
    if (row === undefined) {
      this.written.delete(uid);
      this.pace.drop(uid);
      return undefined;
    }
    const before = this.written.get(uid) ?? this.adopt(row);
    const due = before === undefined ? 0 : this.dueIn(row, before);
    if (due > 0) return { after: Math.ceil(due * 1000) };
    const wait = this.pace.claim(uid, this.options.now());
    if (wait > 0) return { after: Math.ceil(wait * 1000) };
    const known = before ?? (await this.create(row));
    if (known === undefined) return this.settle(row);
    // One that is made late is made with its status.
    const later = this.dueIn(row, known);
    return later > 0 ? { after: Math.ceil(later * 1000) } : this.write(row, known);
  }

  private async write(row: WorkloadRow, known: Written): Promise<Next> {
    const { client, positionOf, now } = this.options;
    const status = fluxJobStatus(row, {
      position: positionOf(row.uid),
      previous: known.status,
      generation: known.generation,
      now: now(),
    });
    const spec = this.specOf(row);
    const path = (subresource?: string) =>
      fluxJobs(row.namespace, fluxJobName(row.kind, row.name), subresource);
    const metadata = { uid: known.uid };
    let { generation } = known;
    if (!isDeepStrictEqual(spec, known.spec)) {
      const patch = { type: 'merge', body: { metadata, spec } } as const;
      const outcome = await applyPatch(client, path(), patch, (left) => {
        generation = left.metadata.generation ?? generation;
      });
      if (outcome !== 'done') return this.lost(row);
    }
    if (!isDeepStrictEqual(status, known.status)) {
      const body = { metadata, status: mergePatchOf(known.status, status) };
      if ((await applyPatch(client, path('status'), { type: 'merge', body })) !== 'done')
        return this.lost(row);
    }
    this.written.set(row.uid, { ...known, spec, status, generation, phase: row.phase, at: now() });
    return this.settle(row);
  }

  /** A finished row is done with once its last status is written. */
  private settle(row: WorkloadRow): undefined {
    if (row.phase !== 'Finished') return undefined;
    this.written.delete(row.uid);
    this.options.onSettled(row.uid);
    return undefined;
  }

  /** Deleted by hand, or made anew: looked at again from the start while its workload is not finished. */
  private lost(row: WorkloadRow): Next {
    this.written.delete(row.uid);
    return row.phase === 'Finished' ? this.settle(row) : { after: 1_000 };
  }

  /** A status within a phase (position, estimate, reason) waits too: it changes with every pass. */
  private dueIn(row: WorkloadRow, known: Written): number {
    const since = Math.max(known.at, phaseSince(row));
    return since + WORTH_WRITING[row.phase] - this.options.now();
  }

  /** After a restart: the FluxJob is there already. */
  private adopt(row: WorkloadRow): Written | undefined {
    const object = this.options.seen(row.namespace, fluxJobName(row.kind, row.name));
    return object?.spec.workload.uid === row.uid ? this.remember(row, object) : undefined;
  }

  /** @returns undefined when its workload is gone, so that there is nothing to record */
  private async create(row: WorkloadRow): Promise<Written | undefined> {
    const { client, adapters } = this.options;
    const { apiVersion } = adapters.get(row.kind)!;
    const { uid, kind, name, namespace } = row;
    const body = {
      apiVersion: `${FLUXJOB_GROUP}/${FLUXJOB_VERSION}`,
      kind: 'FluxJob',
      metadata: {
        name: fluxJobName(kind, name),
        namespace,
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: false }],
      },
      spec: this.specOf(row),
    };
    try {
      const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
      const { metadata } = await client.create<KubernetesObject>(fluxJobs(namespace), body, options);
      return this.remember(row, { metadata, spec: body.spec });
    } catch (error) {
      // A namespace that is being deleted takes nothing new.
      if (isStatus(error, 404) || isStatus(error, 403)) return undefined;
      if (!isStatus(error, 409)) throw error;
      return this.replaceOrAdopt(row);
    }
  }

  /** One of that name exists: ours from before a restart, or that of a workload that is gone. */
  private async replaceOrAdopt(row: WorkloadRow): Promise<Written | undefined> {
    const path = fluxJobs(row.namespace, fluxJobName(row.kind, row.name));
    const object = await this.options.client.get<FluxJobObject>(path);
    if (object.spec.workload.uid === row.uid) return this.remember(row, object);
    await this.options.client.delete(path, { uid: object.metadata.uid });
    return this.create(row);
  }

  private remember(row: WorkloadRow, object: FluxJobObject): Written {
    const { uid, generation = 1 } = object.metadata;
    const { spec, status = {} } = object;
    const written = { uid, generation, spec, status, phase: status.phase, at: 0 };
    this.written.set(row.uid, written);
    return written;
  }

  private specOf(row: WorkloadRow): FluxJobProps['spec'] {
    return fluxJobSpec(row, this.options.adapters.get(row.kind)!.apiVersion);
  }
}

interface Written {
  /** Of the FluxJob. */
  readonly uid: string;
  readonly generation: number;
  readonly spec: FluxJobProps['spec'];
  readonly status: FluxJobStatus;
  readonly phase: WorkloadRow['phase'] | undefined;
  /** Unix seconds of our last status write; 0: none yet. */
  readonly at: number;
}

function phaseSince(row: WorkloadRow): number {
  switch (row.phase) {
    case 'Waiting':
      return row.submittedAt;
    case 'Ready':
      return row.allocatedAt ?? 0;
    case 'Running':
      return row.startedAt ?? 0;
    case 'Finished':
      return 0;
  }
}
