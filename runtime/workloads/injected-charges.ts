/** What Jobs are charged for what webhooks add to their pods, as far as dry runs, pods and rows say it. */
import { isDeepStrictEqual } from 'node:util';
import type { TimeSlice } from '../clock';
import type { Container, PodSpec } from '../jobspec/pod';
import { setsOf } from '../jobspec/pod-sets';
import { podRequests, type Requests } from '../jobspec/requests';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { ActiveWorkload, WorkloadAdapter } from './adapter';
import { ifReadable, type PodSet } from './demand';
import { type Addition, InjectedRequests, type Template } from './injected';
import { belongsToGrant } from './pod';

export class InjectedCharges {
  private readonly injected = new InjectedRequests();
  /** UID of a workload -> its grant, and the pod sets of which a pod was compared with its template. */
  private readonly learned = new Map<string, { readonly jobid: number; readonly sets: Set<string> }>();

  /**
   * @param podOf the pods of a workload as they are expected, without what webhooks add
   * @param versionFor what may add something in this namespace
   */
  constructor(
    private readonly podOf: (podSet: PodSet, namespace: string, adapter: WorkloadAdapter) => PodSpec,
    private readonly versionFor: (namespace: string) => string | undefined = () => undefined,
  ) {}

  /** Undefined if nothing is added, as to a pod that exists already. */
  of(podSet: PodSet, namespace: string, adapter: WorkloadAdapter): Addition | undefined {
    if (adapter.podsExist || this.injected.isEmpty) return undefined;
    return this.injected.addedTo(this.templateOf(podSet, namespace, adapter));
  }

  /**
   * Compares the first pod of each pod set of a grant with its template, once; one that found no place because it is larger counts
   * before others.
   * @param isNew whether the pods can only be as they were created. @default true
   * @returns whether workloads are charged something else from now on
   */
  learn({ object, adapter, row, pods }: ActiveWorkload, { isNew = true } = {}): boolean {
    if (adapter.podsExist || row.allocation === null) return false;
    const learned = this.learnedOf(row);
    if (learned.size >= setsOf(row.jobspec).length) return false;
    const larger = adapter.largerPods(object, row, pods).map(({ pod }) => pod);
    const placed = pods.filter((pod) => belongsToGrant(pod, row.jobid));
    let isChanged = false;
    for (const pod of [...larger, ...placed]) {
      const set = adapter.podSetOf(object, pod);
      if (learned.has(set)) continue;
      learned.add(set);
      const template = this.templatesOfPods(object, adapter).get(set);
      if (template === undefined || (!isNew && mayBeResized(template.pod, pod.spec))) continue;
      const version = isNew ? this.versionFor(template.namespace) : undefined;
      isChanged = this.injected.learn(template, pod.spec, version) || isChanged;
    }
    return isChanged;
  }

  private learnedOf({ uid, jobid }: WorkloadRow): Set<string> {
    const known = this.learned.get(uid);
    if (known?.jobid === jobid) return known.sets;
    const sets = new Set<string>();
    this.learned.set(uid, { jobid, sets });
    return sets;
  }

  /**
   * Compares a pod of a dry run with its template.
   * @returns whether workloads are charged something else from now on
   */
  expect(template: Template, pod: PodSpec, version: string): boolean {
    return this.injected.expect(template, pod, version);
  }

  /** Whether pods or rows say what is added to this template by this version of what adds something. */
  isKnown(template: Template, version: string): boolean {
    return this.injected.isKnown(template, version);
  }

  /** The pods of a workload that makes them of templates, by their pod set; none of one that cannot be read. */
  templatesOfPods(object: KubernetesObject, adapter: WorkloadAdapter): ReadonlyMap<string, Template> {
    const { namespace = '' } = object.metadata;
    const templates = ifReadable(() =>
      adapter
        .demand(object)
        .podSets.map((set) => [set.name, this.templateOf(set, namespace, adapter)] as const),
    );
    return new Map(templates);
  }

  /** The grant of this row has ended. */
  forget({ uid }: Pick<WorkloadRow, 'uid'>): void {
    this.learned.delete(uid);
  }

  /**
   * Goes on with what the leader before had learned, before anything is judged: else what waits would be written again, and
   * grants that are not released be given back.
   */
  async continueWith(workloads: readonly ActiveWorkload[], slice: TimeSlice): Promise<void> {
    const ofJobs = workloads.filter(({ adapter }) => !adapter.podsExist);
    for (const workload of ofJobs) this.learn(workload, { isNew: false });
    await this.assume(
      ofJobs.filter((workload) => chargedIn(workload) !== undefined),
      slice,
    );
    // Those that were charged nothing beside these.
    if (this.injected.addsAnything)
      await this.assume(
        ofJobs.filter((workload) => chargedIn(workload) === undefined),
        slice,
      );
  }

  private async assume(workloads: readonly ActiveWorkload[], slice: TimeSlice): Promise<void> {
    for (const workload of workloads) {
      if (slice.isOver) await slice.rest();
      const { object, adapter } = workload;
      // What a row was charged is that of its first pod set.
      const [template] = this.templatesOfPods(object, adapter).values();
      if (template !== undefined) this.injected.assume(template, chargedIn(workload));
    }
  }

  private templateOf(podSet: PodSet, namespace: string, adapter: WorkloadAdapter): Template {
    const { labels, annotations = {} } = podSet;
    return { namespace, labels, annotations, pod: this.podOf(podSet, namespace, adapter) };
  }
}

/** Its user may have resized a pod in place since it was created: then only rows say what is added to its template. */
function mayBeResized(expected: PodSpec, { containers, initContainers = [] }: PodSpec): boolean {
  const real = [...containers, ...initContainers];
  return [...expected.containers, ...(expected.initContainers ?? [])].some((container) => {
    const same = real.find(({ name }) => name === container.name);
    return same !== undefined && !isDeepStrictEqual(requestsOf(same), requestsOf(container));
  });
}

function requestsOf(container: Container): Requests {
  return podRequests({ containers: [container] });
}

/** An earlier version knows of no placement. */
function chargedIn({ row }: ActiveWorkload): Addition | undefined {
  const { injected: requests, placed: placement } = row.jobspec.attributes.user ?? {};
  if (requests === undefined && placement === undefined) return undefined;
  return { ...(requests && { requests }), ...(placement && { placement }) };
}
