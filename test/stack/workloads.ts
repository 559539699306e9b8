/** Creates workloads in a test namespace, reads them and waits for their phases. */
import {
  type FluxJobObject,
  type FluxSetupObject,
  type FluxSetupSpecJson,
  fluxJobs,
  fluxSetups,
} from '../../runtime/kubernetes/custom-resources';
import { isStatus } from '../../runtime/kubernetes/errors';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import type { Fixture } from './suite';
import { historiesOf, judge, type Verdict } from './verify';

export interface Shape {
  /** Cores of each pod. @default 1 */
  readonly cores?: number;
  /** Pods that run at once. @default 1 */
  readonly pods?: number;
  /** @default - as many as run at once */
  readonly completions?: number;
  /** @default true */
  readonly indexed?: boolean;
  /** How long a pod runs: UNTIL_ENDED if others must find it at work, however slow the machine is. @default '300ms' */
  readonly runs?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether the pods of a Job never end, until their finalizer is removed. @default false */
  readonly stuck?: boolean;
  /** Whether the containers of the pods of a Job are not started, as if their image were pulled. @default false */
  readonly neverStarts?: boolean;
  /** More of the Job's or the Pod's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** More of the pod's spec. */
  readonly podSpec?: Readonly<Record<string, unknown>>;
}

const DURATION = 'fluxqueue.test/duration';
const STUCK = 'fluxqueue.test/stuck';
/** A pod that loses this annotation starts. */
export const NEVER_STARTS = 'fluxqueue.test/never-starts';
/** It runs until the test ends or deletes it. */
export const UNTIL_ENDED = '24h';

/** One namespace of the fixture. */
export class Namespace {
  /** uids of everything made here. */
  readonly uids: string[] = [];
  private readonly deleted = new Set<string>();

  private constructor(
    private readonly fixture: () => Fixture,
    readonly name: string,
  ) {}

  static async create(fixture: () => Fixture, name: string): Promise<Namespace> {
    await fixture().stack.namespace(name);
    return new Namespace(fixture, name);
  }

  async job(name: string, shape: Shape = {}): Promise<Job> {
    const { pods = 1, completions = pods, indexed = true, runs = '300ms', annotations, labels } = shape;
    const job = await this.fixture().client.create<Job>(jobs(this.name), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, annotations, labels },
      spec: {
        parallelism: pods,
        completions,
        completionMode: indexed ? 'Indexed' : 'NonIndexed',
        ...shape.spec,
        template: {
          metadata: {
            annotations: {
              [DURATION]: runs,
              ...(shape.stuck === true && { [STUCK]: 'true' }),
              ...(shape.neverStarts === true && { [NEVER_STARTS]: 'true' }),
            },
            // A simulated kubelet that ignores a pod keeps nobody from deleting it.
            ...(shape.stuck === true && { finalizers: [STUCK] }),
          },
          spec: podSpec(shape),
        },
      },
    });
    this.uids.push(job.metadata.uid);
    return job;
  }

  async pod(name: string, shape: Shape = {}): Promise<Pod> {
    const annotations = { [DURATION]: shape.runs ?? '300ms', ...shape.annotations };
    const pod = await this.fixture().client.create<Pod>(pods(this.name), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, annotations, labels: shape.labels },
      spec: { ...podSpec(shape), ...shape.spec },
    });
    this.uids.push(pod.metadata.uid);
    return pod;
  }

  /** Resolves once the controller serves it: a workload that names no queue may be reconciled before. */
  async fluxSetup(name: string, spec: FluxSetupSpecJson = {}): Promise<void> {
    const { client } = this.fixture();
    await client.create<FluxSetupObject>(fluxSetups(this.name), {
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name },
      spec,
    });
    await waitFor(`FluxSetup ${name} to be served`, async () => {
      const { status } = await client.get<FluxSetupObject>(fluxSetups(this.name, name));
      return status?.observedGeneration === 1;
    });
  }

  async row({ metadata }: KubernetesObject): Promise<WorkloadRow | undefined> {
    return (await this.fixture().queue.byUid([metadata.uid]))[0];
  }

  /** Its row, once it is in this phase (for this reason). */
  phase(object: KubernetesObject, phase: Phase, reason?: string): Promise<WorkloadRow> {
    return waitFor(`${object.metadata.name} to be ${phase} ${reason ?? ''}`, async () => {
      const row = await this.row(object);
      return row?.phase === phase && (reason === undefined || row.reason === reason) ? row : undefined;
    });
  }

  /** Its row, once it runs under another grant than before. */
  regranted(object: KubernetesObject, before: WorkloadRow): Promise<WorkloadRow> {
    return waitFor(`${object.metadata.name} to run again`, async () => {
      const row = await this.row(object);
      return row?.phase === 'Running' && row.jobid !== before.jobid ? row : undefined;
    });
  }

  /** Undefined: there is none. */
  async fluxJob(name: string): Promise<FluxJobObject | undefined> {
    try {
      return await this.fixture().client.get<FluxJobObject>(fluxJobs(this.name, name));
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** The FluxJob, once it says this phase (for this reason). */
  shown(name: string, phase: Phase, reason?: string): Promise<FluxJobObject> {
    return waitFor(`FluxJob ${name} to say ${phase} ${reason ?? ''}`, async () => {
      const found = await this.fluxJob(name);
      const said = found?.status?.conditions?.find(({ type }) => type === 'Scheduled')?.reason;
      return found?.status?.phase === phase && (reason === undefined || said === reason) ? found : undefined;
    });
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.fixture().client.list<Pod>(pods(this.name))).items;
  }

  /** Pods of this workload. */
  async podsOf({ metadata: { uid } }: KubernetesObject): Promise<readonly Pod[]> {
    const all = await this.pods();
    return all.filter(
      ({ metadata }) => metadata.uid === uid || metadata.ownerReferences?.some((owner) => owner.uid === uid),
    );
  }

  /** The Events of an object, once it has at least so many: an Event is written after the change that it reports. */
  async recordedEvents(object: KubernetesObject, count: number): Promise<readonly string[]> {
    let events: readonly string[] = [];
    await waitFor(`${count} Events of ${object.metadata.name}`, async () => {
      events = await this.events(object);
      return events.length >= count;
    });
    return events;
  }

  async events({ metadata }: KubernetesObject): Promise<readonly string[]> {
    type Event = KubernetesObject & {
      readonly reason: string;
      readonly note: string;
      readonly reportingController?: string;
      readonly regarding: { readonly uid: string };
    };
    const path = `/apis/events.k8s.io/v1/namespaces/${this.name}/events`;
    const { items } = await this.fixture().client.list<Event>(path);
    return items
      .filter(
        ({ regarding, reportingController: by }) =>
          regarding.uid === metadata.uid && by?.startsWith('fluxqueue'),
      )
      .map(({ reason, note }) => `${reason}: ${note}`);
  }

  async patch(object: KubernetesObject, kind: 'Job' | 'Pod', body: object): Promise<void> {
    const path = kind === 'Job' ? jobs : pods;
    await this.fixture().client.patch(path(this.name, object.metadata.name), body, 'merge');
  }

  async delete(
    object: KubernetesObject,
    kind: 'Job' | 'Pod',
    propagationPolicy: 'Background' | 'Foreground' = 'Background',
  ): Promise<void> {
    const path = kind === 'Job' ? jobs : pods;
    this.deleted.add(object.metadata.uid);
    await this.fixture().client.delete(path(this.name, object.metadata.name), { propagationPolicy });
  }

  /** What the kubelet of a pod says of it. */
  async podStatus({ metadata }: Pod, status: object): Promise<void> {
    const path = pods(this.name, metadata.name, 'status');
    await this.fixture().client.patch(path, { status }, 'merge');
  }

  /** The pods of a workload that run succeed now. */
  async end(object: KubernetesObject): Promise<void> {
    const running = (await this.podsOf(object)).filter(({ status }) => status?.phase === 'Running');
    for (const pod of running) await this.podStatus(pod, { phase: 'Succeeded' });
  }

  /** Rows of everything made here, and the uids that must have one: what was deleted before it was seen has none. */
  private async known(): Promise<{ rows: readonly WorkloadRow[]; uids: readonly string[] }> {
    const rows = await this.fixture().queue.byUid(this.uids);
    const there = new Set(rows.map(({ uid }) => uid));
    return { rows, uids: this.uids.filter((uid) => there.has(uid) || !this.deleted.has(uid)) };
  }

  /** The verdict on every workload that this namespace created. */
  async verdict(): Promise<Verdict> {
    const { rows, uids } = await this.known();
    return judge(uids, rows, await this.pods(), await historiesOf(this.fixture().queue, uids));
  }

  /** Waits until everything made here is finished. */
  async finished(timeoutMs?: number): Promise<void> {
    await waitFor(
      `all of ${this.name} to finish`,
      async () => {
        const { rows, uids } = await this.known();
        const open = rows.filter(({ phase }) => phase !== 'Finished');
        if (rows.length === uids.length && open.length === 0) return true;
        const what = open.map(({ name, phase, reason }) => `${name} ${phase} ${reason ?? ''}`);
        throw new Error(`${uids.length - rows.length} without a row; ${what.join(', ')}`);
      },
      timeoutMs === undefined ? {} : { timeoutMs },
    );
  }
}

/** Of the only container of these pods. */
export function containerStatus(state: object): object {
  return { name: 'main', image: 'none', imageID: '', ready: false, restartCount: 0, state };
}

function podSpec({ cores = 1, podSpec: more }: Shape): object {
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }],
    ...more,
  };
}
