/**
 * The first sync of an application that has everything at once: the namespace, its quota, and Jobs that ask for more. Engines
 * apply the Jobs within milliseconds of the FluxSetup, before or after it.
 */
import { NAMESPACE_LABEL, QUEUE } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import type { Cluster } from '../cluster/cluster';
import type { Findings } from './scenario';
import type { Way } from './ways';

const JOBS = 10;
const CORES = 2;

/** One Job fits the quota. The names of the Jobs are before and behind that of the queue, because engines sort by name. */
function application(namespace: string): readonly KubeObject[] {
  const labels = { [NAMESPACE_LABEL]: 'true', [QUEUE]: 'm-team' };
  const template = {
    metadata: { annotations: { 'fluxqueue.test/duration': '1h' } },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${CORES}` } } }],
    },
  };
  const jobs = Array.from({ length: JOBS }, (_, i) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `${i % 2 === 0 ? 'a' : 'z'}-${i}`, namespace },
    spec: { template },
  }));
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    ...jobs,
    {
      apiVersion: 'flux-framework.org/v1alpha1',
      kind: 'FluxSetup',
      metadata: { name: 'm-team', namespace },
      spec: { quota: { cores: `${CORES}` } },
    },
  ];
}

export class FirstSync {
  constructor(
    private readonly cluster: Cluster,
    private readonly way: Way,
    private readonly namespace: string,
    private readonly findings: Findings,
  ) {}

  async live(): Promise<void> {
    const objects = application(this.namespace);
    const say = (texts: readonly string[]) => texts.map((text) => `${this.way.name}, first sync: ${text}`);
    this.findings.say(`${this.way.name}: first sync`);
    this.findings.add('denied', say(await this.way.apply(this.namespace, objects, [])));
    this.findings.objects += objects.length;
    // All are judged when each of those that wait says that the quota is used up.
    const running = await this.cluster.waitFor('each Job to be judged', async () => {
      const jobs = await this.jobs();
      const started = jobs.filter(({ spec }) => spec.suspend === false);
      const usage = await this.waiting();
      return started.length > 0 && started.length + usage >= JOBS && started;
    });
    const names = running.map(({ metadata }) => metadata.name);
    if (running.length > 1)
      this.findings.add(
        'overQuota',
        say([`${running.length} Jobs run in a quota for one: ${names.join(', ')}`]),
      );
    this.findings.add('denied', say(await this.way.apply(this.namespace, [], objects)));
  }

  private async jobs(): Promise<readonly Job[]> {
    return (await this.cluster.get<{ items: Job[] }>(`/apis/batch/v1/namespaces/${this.namespace}/jobs`))
      .items;
  }

  private async waiting(): Promise<number> {
    const path = `/apis/flux-framework.org/v1alpha1/namespaces/${this.namespace}/fluxsetups/m-team`;
    const { status } = await this.cluster.get<{ status?: { waiting?: number } }>(path);
    return status?.waiting ?? 0;
  }
}
