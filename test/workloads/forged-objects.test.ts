/** What carries labels and annotations of the queue in a namespace where admission reserves none of them is none of the queue's. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { withField } from '../../runtime/kubernetes/fields';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { UNTOUCHED } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';
import { gang } from '../kinds/objects';

const FORGED = 'kube-system';
/** The highest job id that is exact, and so is no other after it. */
const JOBID = `${2 ** 52 - 1}`;
const GRANT = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0,node-1', [JOBID_ANNOTATION]: JOBID };
const ADMITTED = { [ADMITTED_LABEL]: 'true' };
const ENDED = { type: 'Complete', status: 'True', lastTransitionTime: '2027-01-15T08:00:00Z' } as const;

describe('forged objects in a namespace that the queue leaves alone', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController(
      undefined,
      WORKLOAD_KINDS.map(({ kind }) => kind),
    );
    controller.apiserver.store.create('namespaces', { metadata: { name: FORGED } });
    await controller.start();
  });
  afterEach(() => controller.close());

  const containers = [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }];
  const store = () => controller.apiserver.store;

  function forge(
    resource: string,
    name: string,
    { metadata, ...rest }: { metadata: object },
  ): KubernetesObject {
    return store().create(resource, { metadata: { name, namespace: FORGED, ...metadata }, ...rest });
  }

  function forgeJob(name: string, suspend: boolean, status: object = {}): void {
    const template = { metadata: { annotations: { ...GRANT, [UNTOUCHED]: '' } }, spec: { containers } };
    const spec = { suspend, parallelism: 2, completions: 2, completionMode: 'Indexed', template };
    forge('jobs', name, { metadata: { labels: ADMITTED }, spec, status } as never);
  }

  function forgePod(
    name: string,
    metadata: object,
    spec: object,
    status: object = { phase: 'Running' },
  ): void {
    const annotations = { [UNTOUCHED]: '', ...(metadata as KubernetesObject['metadata']).annotations };
    forge('pods', name, {
      metadata: { ...metadata, annotations },
      spec: { containers, ...spec },
      status,
    } as never);
  }

  const gated = { schedulingGates: [{ name: GATE }] };
  const bound = { nodeName: 'node-0' };

  function forgeAll(): void {
    forgeJob('waiting', true);
    forgeJob('running', false, { startTime: '2027-01-15T08:00:00Z', active: 2 });
    forgeJob('ended', false, { startTime: '2027-01-15T08:00:00Z', succeeded: 2, conditions: [ENDED] });
    forgePod('gated', { labels: ADMITTED }, gated, { phase: 'Pending' });
    forgePod('ended', { labels: ADMITTED, annotations: GRANT }, bound, { phase: 'Succeeded' });
    for (const [name, spec] of [
      ['first', gated],
      ['second', {}],
    ] as const)
      forgePod(
        name,
        {
          labels: { ...ADMITTED, [GROUP]: 'team' },
          annotations: {
            [GROUP_SIZE]: '2',
            [GROUP_MEMBER_ANNOTATION]: 'group-x/pod',
            [JOBID_ANNOTATION]: JOBID,
          },
        },
        spec,
        { phase: 'Pending' },
      );
    for (const kind of WORKLOAD_KINDS)
      for (const suspend of [true, false]) {
        const metadata = {
          labels: ADMITTED,
          annotations: { [ASSIGNMENT_ANNOTATION]: 'worker=0/1:node-0', [JOBID_ANNOTATION]: JOBID },
        };
        const object = gang(kind, `${kind.plural}-${suspend}`, { metadata });
        forge(kind.plural, `${kind.plural}-${suspend}`, withField(object, kind.suspend, suspend) as never);
      }
  }

  test('are neither queued nor adopted nor granted nodes, also by the next controller', async () => {
    forgeAll();
    await controller.seconds(90);
    await controller.stop();
    await controller.start();
    await controller.seconds(90);
    expect(controller.queue.all).toEqual([]);
    expect(controller.queue.events.filter(({ event }) => event !== 'Leader')).toEqual([]);
    expect(store().list('fluxjobs')).toEqual([]);
    expect(await controller.held()).toEqual([]);
    for (const { spec } of store().list<Pod>('pods')) expect(spec.affinity).toBeUndefined();
    // Nor do they take the job ids of others.
    controller.submit('real', { pods: 2, runs: 5 });
    await controller.seconds(30);
    expect(controller.row('real')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect(controller.row('real')!.jobid).toBeLessThan(Number(JOBID) - 1_000);
  });

  test('are none of a workload of another namespace whose uid they name', async () => {
    const { uid } = controller.submit('real', { pods: 2, runs: 40 }).metadata;
    await controller.seconds(10);
    const { jobid, allocation } = controller.row('real')!;
    expect(controller.row('real')).toMatchObject({ phase: 'Running' });
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'real', uid, controller: true }];
    const annotations = { ...GRANT, [JOBID_ANNOTATION]: `${jobid}`, [OWNER_ANNOTATION]: `Job/real/${uid}` };
    const labels = { [JOB_UID_LABEL]: uid };
    for (const phase of ['Pending', 'Running', 'Failed', 'Succeeded'])
      forgePod(`p-${phase.toLowerCase()}`, { labels, annotations, ownerReferences }, {}, { phase });
    forgePod('orphan', { labels, annotations: { ...annotations, [OWNER_ANNOTATION]: '' } }, gated, {
      phase: 'Pending',
    });
    await controller.seconds(15);
    expect(controller.row('real')).toMatchObject({ phase: 'Running', jobid, allocation, requeues: 0 });
    for (const pod of store().list<Pod>('pods'))
      if (pod.metadata.namespace === FORGED) expect(pod.spec.affinity).toBeUndefined();
    await controller.seconds(40);
    expect(controller.row('real')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });
});
