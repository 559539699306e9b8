/** The whole controller on a simulated cluster: pods that never start, in front of an earlier workload. */
import type { Pod } from '../../runtime/kubernetes/types';
import { World } from '../cli/why/world';
import { UNTOUCHED } from '../fuzz/simulated-cluster';

/** Its kubelet has the pod, and cannot make its containers. */
function bind({ controller }: World): void {
  const { store } = controller.apiserver;
  for (const pod of store.list<Pod>('pods')) {
    const { name, deletionTimestamp, annotations } = pod.metadata;
    if (!name.startsWith('stuck') || annotations?.[UNTOUCHED] === undefined) continue;
    if (deletionTimestamp !== undefined) store.remove('pods', `science/${name}`);
    else if (pod.spec.nodeName === undefined) {
      const node = JSON.stringify(pod.spec.affinity).match(/node-\d/)?.[0];
      store.put('pods', { ...pod, spec: { ...pod.spec, nodeName: node } });
    }
  }
}

test('a stream of short Jobs that never start keeps an earlier one waiting once', async () => {
  const world = await World.start();
  world.job('first', { cores: 4, runs: 30, annotations: { 'fluxqueue/walltime': '30s' } });
  await world.seconds(3);
  world.job('wide', { pods: 2, cores: 4 });
  await world.seconds(3);
  let started: number | undefined;
  for (let i = 0; i < 60 && started === undefined; i++) {
    const annotations = { 'fluxqueue/walltime': '1' };
    world.job(`stuck-${i}`, { cores: 4, annotations, podAnnotations: { [UNTOUCHED]: '' } });
    for (let s = 0; s < 5; s++) {
      await world.seconds(1);
      bind(world);
    }
    const nodes = world.podsOf('wide').flatMap(({ spec }) => spec.nodeName ?? []);
    if (nodes.length === 2) started = i * 5;
  }
  await world.close();
  expect(started).toBeLessThan(30 + 75);
});
