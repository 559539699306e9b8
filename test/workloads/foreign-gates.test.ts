/** Pods with a scheduling gate of another controller: they wait for it, and are not deleted meanwhile. */
import { pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const STAGED = 'example.com/staged';
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'set', controller: true };

describe('a scheduling gate of another controller', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
  });
  afterEach(() => controller.close());

  const podsNamed = (name: string) =>
    controller.apiserver.store.list<Pod>('pods').filter(({ metadata }) => metadata.name.startsWith(name));
  /** As its controller does. */
  const ungate = (pod: Pod) => {
    const schedulingGates = pod.spec.schedulingGates!.filter(({ name }) => name !== STAGED);
    controller.apiserver.store.put('pods', { ...pod, spec: { ...pod.spec, schedulingGates } });
  };

  test.each([
    ['of a ReplicaSet', [OWNER]],
    ['that is bare', []],
  ])('keeps a pod %s from a grant until it is gone', async (_, ownerReferences) => {
    const { uid } = controller.apiserver.create(pods('science'), {
      metadata: { name: 'web-0', ownerReferences, annotations: { [RUNS]: '5' } },
      spec: {
        restartPolicy: 'Never',
        schedulingGates: [{ name: STAGED }],
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '4' } } }],
      },
      status: { phase: 'Pending' },
    }).metadata;
    await controller.seconds(120);
    expect(podsNamed('web').map(({ metadata }) => metadata.uid)).toEqual([uid]);
    expect(controller.row('web-0')).toMatchObject({
      phase: 'Waiting',
      reason: 'SchedulingGated',
      message: `waiting for scheduling gate ${STAGED}`,
      allocation: null,
      requeues: 0,
    });
    ungate(podsNamed('web')[0]!);
    await controller.seconds(20);
    expect(controller.row('web-0')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  /** A Job whose pods have the gate of another controller. */
  function submitStaged(): void {
    const job = controller.submit('staged', { runs: 5 });
    const { template } = job.spec;
    const spec = { ...template.spec, schedulingGates: [{ name: STAGED }] };
    controller.apiserver.store.put<Job>('jobs', {
      ...job,
      spec: { ...job.spec, template: { ...template, spec } },
    });
  }

  test('does not end the grant of a Job as fast as a refusal of kube-scheduler', async () => {
    submitStaged();
    await controller.seconds(300);
    const [pod] = podsNamed('staged');
    expect(controller.row('staged')).toMatchObject({ phase: 'Ready', requeues: 0 });
    ungate(pod!);
    await controller.seconds(20);
    expect(controller.row('staged')).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
  });

  test('holds the nodes of a Job for as long as pods may take to start', async () => {
    submitStaged();
    await controller.seconds(610);
    expect(controller.row('staged')).toMatchObject({ requeues: 1 });
  });
});
