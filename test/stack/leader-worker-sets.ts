/** What tests do with LeaderWorkerSets in a namespace of a live stack. */
import { LEADER_WORKER_SET, LWS_NAME_LABEL } from '../../constructs/api/leader-worker-set';
import { fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import type { Fixture } from './suite';
import type { Namespace } from './workloads';

const path = kindPath(LEADER_WORKER_SET);

interface Shape {
  /** @default 1 */
  readonly replicas?: number;
  /** Pods of a group. @default 2 */
  readonly size?: number;
  /** Of a worker; a leader has one. @default 2 */
  readonly cores?: number;
  readonly restartPolicy?: 'RecreateGroupOnPodRestart' | 'None';
  /** Of all pods. */
  readonly settings?: Record<string, string>;
  readonly spec?: object;
  readonly annotations?: Record<string, string>;
}

const template = (cores: number, annotations: Record<string, string>) => ({
  metadata: { annotations },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${cores}` } } }],
  },
});

export function leaderWorkerSet(
  name: string,
  { replicas = 1, size = 2, cores = 2, restartPolicy, settings = {}, spec = {}, annotations = {} }: Shape,
): KubeObject {
  const templates = { leaderTemplate: template(1, settings), workerTemplate: template(cores, settings) };
  return {
    apiVersion: `${LEADER_WORKER_SET.group}/${LEADER_WORKER_SET.version}`,
    kind: LEADER_WORKER_SET.kind,
    metadata: { name, annotations },
    spec: {
      replicas,
      leaderWorkerTemplate: { size, ...templates, ...(restartPolicy && { restartPolicy }) },
      ...spec,
    },
  };
}

const isRunning = ({ metadata, status }: Pod) =>
  status?.phase === 'Running' && metadata.deletionTimestamp === undefined;

/** Those of the namespace. */
export class LeaderWorkerSets {
  constructor(
    private readonly fixture: () => Fixture,
    private readonly namespace: () => Pick<Namespace, 'name' | 'pods'>,
  ) {}

  private async send(verb: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) {
    const type = verb === 'PATCH' ? 'application/merge-patch+json' : undefined;
    const { status, text } = await this.fixture().stack.cluster.api.send(verb, at, body, type);
    return { status, body: JSON.parse(text) as KubeObject & { readonly message?: string } };
  }

  post(object: KubeObject) {
    return this.send('POST', path(this.namespace().name), object);
  }

  /** Its controller refuses it until its webhook listens. */
  create(name: string, shape: Shape | KubeObject = {}): Promise<true> {
    const object = 'apiVersion' in shape ? shape : leaderWorkerSet(name, shape);
    return waitFor(`${name} to be created`, async () => {
      const { status, body } = await this.post(object);
      if (status !== 201) throw new Error(body.message);
      return true;
    });
  }

  async patch(name: string, spec: object, subresource = ''): Promise<void> {
    const reply = await this.send('PATCH', `${path(this.namespace().name, name)}${subresource}`, { spec });
    expect([reply.status, reply.body.message]).toEqual([200, undefined]);
  }

  /** As `kubectl scale` does. */
  scale(name: string, replicas: number): Promise<void> {
    return this.patch(name, { replicas }, '/scale');
  }

  async podsOf(name: string, group?: number): Promise<readonly Pod[]> {
    return (await this.namespace().pods()).filter(
      ({ metadata: { labels = {}, annotations = {} } }) =>
        labels[LWS_NAME_LABEL] === name &&
        (group === undefined || annotations['fluxqueue/group'] === `${name}-${group}`),
    );
  }

  running(name: string, group: number, count: number, isRight: (pod: Pod) => boolean = () => true) {
    return waitFor(`the ${count} pods of ${name}-${group} to run`, async () => {
      const found = await this.podsOf(name, group);
      const are = found.map((pod) => `${pod.metadata.name} ${pod.status?.phase} ${isRight(pod)}`);
      if (found.length === count && found.every((pod) => isRunning(pod) && isRight(pod))) return found;
      const row = await this.rowOf(name, group);
      throw new Error(`${are.join(', ')}; ${row?.phase} ${row?.reason} ${row?.message}`);
    });
  }

  /** Its pods, once they run in the places that the group was granted. */
  async placed(...group: Parameters<LeaderWorkerSets['running']>): Promise<readonly Pod[]> {
    const [name, index] = group;
    const pods = await this.running(...group);
    expectPlaced((await this.rowOf(name, index))!, pods);
    return pods;
  }

  async rows(name: string): Promise<readonly WorkloadRow[]> {
    const active = await this.fixture().queue.active();
    return active.filter((row) => row.name.startsWith(`${name}-`));
  }

  async rowOf(name: string, group: number): Promise<WorkloadRow | undefined> {
    const found = (await this.rows(name)).find((row) => row.name === `${name}-${group}`);
    if (found !== undefined) expect(found.kind).toBe('PodGroup');
    return found;
  }

  private async records(name: string): Promise<readonly KubernetesObject[]> {
    const { items } = await this.fixture().client.list<KubernetesObject>(fluxJobs(this.namespace().name));
    return items.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  }

  /** Nothing is left of the groups from this one on. */
  gone(name: string, from = 0): Promise<true> {
    return waitFor(`all of ${name} from group ${from} on to be gone`, async () => {
      const isOfThese = (each: string) => Number(each.slice(name.length + 1).split('-')[0]) >= from;
      const objects = [...(await this.podsOf(name)), ...(await this.records(name))];
      const names = [
        ...objects.map(({ metadata }) => metadata.name),
        ...(await this.rows(name)).map((row) => row.name),
      ];
      const left = names.filter(isOfThese);
      if (left.length > 0) throw new Error(`left: ${left.join(', ')}`);
      return true;
    });
  }

  async remove(name: string): Promise<void> {
    await this.send('DELETE', path(this.namespace().name, name), { propagationPolicy: 'Background' });
    await this.gone(name);
  }
}

/** Each pod runs on a node of the grant, and on each node no more of them than were granted there. */
function expectPlaced(row: WorkloadRow, pods: readonly Pod[]): void {
  const { nodes } = row.allocation!;
  for (const { spec } of pods) expect(nodes.map(({ name }) => name)).toContain(spec.nodeName);
  for (const { name, podSets = {} } of nodes) {
    const granted = Object.values(podSets).reduce((sum, count) => sum + count, 0);
    expect(pods.filter(({ spec }) => spec.nodeName === name).length).toBeLessThanOrEqual(granted);
  }
}
