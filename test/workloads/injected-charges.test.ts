/** What Jobs are charged for sidecars that a webhook adds to some of their pods, also by the next leader. */
import type { Pod } from '../../runtime/kubernetes/types';
import { SimulatedController } from '../fuzz/simulated-controller';

const MESH = { 'sidecar.istio.io/inject': 'true' };
const SIDECAR = { name: 'mesh', image: 'none', resources: { requests: { cpu: '1' } } };

/** As a service mesh does. */
function inject(pod: Pod): Pod {
  if (pod.metadata.labels?.['sidecar.istio.io/inject'] !== 'true') return pod;
  return { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, SIDECAR] } };
}

describe('Jobs of one namespace, some of which get a sidecar', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    controller.apiserver.podWebhook = inject;
    await controller.start();
  });
  afterEach(() => controller.close());

  const requested = (name: string) => controller.row(name)!.jobspec.attributes.user?.requests?.cpu;
  const eventsOf = (event: string) => controller.queue.events.filter((each) => each.event === event);
  const nextLeader = async () => {
    await controller.stop();
    await controller.start();
    await controller.seconds(10);
  };

  /** Two run, and one of each kind waits behind a Job that needs both nodes. */
  async function mixed(): Promise<void> {
    controller.submit('meshed', { cores: 2, runs: 300, labels: MESH });
    controller.submit('plain', { cores: 2, runs: 300 });
    await controller.seconds(5);
    controller.submit('wide', { pods: 2, cores: 4, runs: 60 });
    await controller.seconds(1);
    controller.submit('meshed-2', { cores: 2, labels: MESH });
    controller.submit('plain-2', { cores: 2 });
    await controller.seconds(20);
  }

  test('each is charged what its own pods request, and nothing is rewritten', async () => {
    await mixed();
    expect(['meshed-2', 'plain-2'].map(requested)).toEqual(['3', '2']);
    expect(eventsOf('Updated')).toEqual([]);
    const running = controller.apiserver.store.list<Pod>('pods').map(({ metadata }) => metadata.name);
    for (const name of ['meshed', 'plain']) expect(running.join()).toContain(name);
  });

  test('a new leader rewrites nothing that waits while pods say what is added', async () => {
    await mixed();
    const jobids = ['meshed-2', 'plain-2', 'wide'].map((name) => controller.row(name)?.jobid);
    await nextLeader();
    expect(eventsOf('Updated')).toEqual([]);
    expect(eventsOf('Requeued')).toEqual([]);
    expect(['meshed-2', 'plain-2', 'wide'].map((name) => controller.row(name)?.jobid)).toEqual(jobids);
    expect(['meshed-2', 'plain-2'].map(requested)).toEqual(['3', '2']);
  });

  test('a new leader does not charge a Job for a sidecar that only others get', async () => {
    await mixed();
    controller.delete('plain');
    await controller.seconds(5);
    controller.submit('plain-3', { cores: 2 });
    await controller.seconds(5);
    await nextLeader();
    expect(eventsOf('Updated')).toEqual([]);
    expect(['meshed-2', 'plain-2', 'plain-3'].map(requested)).toEqual(['3', '2', '2']);
  });

  test('a new leader does not take a pod that was resized for what the cluster adds', async () => {
    controller.submit('resized', { cores: 1, runs: 300 });
    await controller.seconds(5);
    controller.submit('wide', { pods: 2, cores: 4, runs: 60 });
    controller.submit('next', { cores: 1, runs: 300 });
    await controller.seconds(5);
    const { store } = controller.apiserver;
    const pod = store.list<Pod>('pods').find(({ metadata }) => metadata.name.startsWith('resized'))!;
    const containers = pod.spec.containers.map((each) => ({
      ...each,
      resources: { requests: { cpu: '3' } },
    }));
    store.put('pods', { ...pod, spec: { ...pod.spec, containers } });
    await nextLeader();
    controller.submit('later', { cores: 1, runs: 300 });
    await controller.seconds(5);
    expect(['next', 'later'].map(requested)).toEqual(['1', '1']);
    expect(eventsOf('Updated')).toEqual([]);
  });

  test('a new leader rewrites nothing that waits, although no pod with a sidecar is left', async () => {
    controller.submit('meshed', { cores: 2, runs: 5, labels: MESH });
    await controller.seconds(15);
    controller.submit('all', { pods: 2, cores: 4, runs: 300 });
    await controller.seconds(5);
    controller.submit('meshed-2', { cores: 2, labels: MESH });
    await controller.seconds(5);
    expect(requested('meshed-2')).toBe('3');
    const { jobid } = controller.row('meshed-2')!;
    // The second one has it from the first.
    await nextLeader();
    await nextLeader();
    expect(eventsOf('Updated')).toEqual([]);
    expect(controller.row('meshed-2')).toMatchObject({ jobid, phase: 'Waiting' });
    expect(requested('meshed-2')).toBe('3');
  });
});
