/** A new Job under the name of one whose pods live on (`kubectl delete --cascade=orphan`). */
import type { Pod } from '../../runtime/kubernetes/types';
import { secondsOf } from '../../runtime/workloads/adapter';
import { SimulatedController } from '../fuzz/simulated-controller';

test('says by an Event what it waits for, and is queued as of its creation', async () => {
  const controller = new SimulatedController();
  const { store } = controller.apiserver;
  try {
    await controller.start();
    controller.submit('a', { runs: 60 });
    await controller.seconds(5);
    const old = controller.row('a')!;
    expect(old).toMatchObject({ phase: 'Running' });
    const [pod] = store.list<Pod>('pods');
    const { ownerReferences: _, ...metadata } = pod!.metadata;
    store.put('pods', { ...pod!, metadata });
    store.remove('jobs', 'science/a');
    await controller.seconds(2);
    const { uid, creationTimestamp } = controller.submit('a', { runs: 5 }).metadata;
    const notes = () =>
      store
        .list<{ reason?: string; note?: string; regarding?: { uid?: string } } & Pod>('events')
        .filter(({ regarding, reason }) => regarding?.uid === uid && reason === 'NameInUse')
        .map(({ note }) => note);
    await controller.seconds(20);
    const node = old.allocation!.nodes[0]!.name;
    expect(notes()).toEqual([
      `pods of a deleted Job of this name still run on ${node}: it is queued once they have ended, as of its creation`,
    ]);
    await controller.seconds(90);
    const rows = controller.queue.all.filter(({ name }) => name === 'a');
    expect(rows.find((row) => row.uid === uid)).toMatchObject({
      submittedAt: secondsOf(creationTimestamp),
      result: 'Succeeded',
    });
    expect(notes()).toHaveLength(1);
  } finally {
    await controller.close();
  }
});
