/** A row whose object is gone ends, whatever became of the attempts before: also beside the row of a new object of its name. */
import { pause } from '../../runtime/clock';
import { FluxqError } from '../../runtime/errors';
import { pods } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { RUNS } from '../fuzz/simulated-cluster';
import { SimulatedController } from '../fuzz/simulated-controller';

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', controller: true };

const SET = 'science/db';

function createService({ apiserver }: SimulatedController, cores = 1): void {
  const { store } = apiserver;
  const metadata = { name: 'db', namespace: 'science' };
  const { uid } = (store.get('statefulsets', SET) ?? store.create('statefulsets', { metadata, spec: {} }))
    .metadata;
  apiserver.create(pods('science'), {
    metadata: { name: 'db-0', ownerReferences: [{ ...OWNER, uid }], annotations: { [RUNS]: '600' } },
    spec: {
      restartPolicy: 'Always',
      containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: String(cores) } } }],
    },
    status: { phase: 'Pending' },
  });
}

describe('a pod of a StatefulSet that is lost and made again', () => {
  let controller: SimulatedController;
  beforeEach(async () => {
    controller = new SimulatedController();
    await controller.start();
    create();
    await controller.seconds(5);
    expect(rows()).toMatchObject([{ phase: 'Running' }]);
  });
  afterEach(() => controller.close());

  const create = () => createService(controller);
  const changeSet = (metadata: Partial<KubernetesObject['metadata']>, spec: object) => {
    const { store } = controller.apiserver;
    const set = store.get('statefulsets', SET)!;
    store.put('statefulsets', {
      ...set,
      metadata: { ...set.metadata, ...metadata },
      spec,
    } as KubernetesObject);
  };
  const rows = () => controller.queue.all.filter(({ name }) => name === 'db-0');
  const lose = () => controller.apiserver.store.remove('pods', 'science/db-0');
  const replace = () => {
    lose();
    create();
  };

  test.each([
    ['is refused', new FluxqError('FLUXQ_DATABASE_REFUSED', 'no', { retryable: false })],
    ['gets no answer', new FluxqError('FLUXQ_DATABASE_DOWN', 'no answer', { retryable: true })],
  ])('frees the units of the lost one, although the first record of its end %s', async (_, error) => {
    const finish = controller.queue.finish.bind(controller.queue);
    let refused = 0;
    controller.queue.finish = async (...call) => {
      refused += 1;
      if (refused === 1) throw error;
      return finish(...call);
    };
    replace();
    await controller.seconds(20);
    expect(refused).toBeGreaterThan(0);
    expect(
      rows()
        .map(({ phase }) => phase)
        .sort(),
    ).toEqual(['Finished', 'Running']);
    expect(await controller.held()).toHaveLength(1);
  });

  const placeOf = (row: { submittedAt: number } | undefined) => row?.submittedAt;
  const waiting = () => rows().find(({ phase }) => phase !== 'Finished');
  /** A kubelet reports how the containers ended, and deletes the object after that. */
  function end(phase: 'Succeeded' | 'Failed', more: Partial<Pod['metadata']> = {}): void {
    const { store } = controller.apiserver;
    const pod = store.get<Pod>('pods', 'science/db-0')!;
    store.put('pods', {
      ...pod,
      metadata: { ...pod.metadata, ...more },
      status: { ...pod.status, phase, containerStatuses: [endedNow()] },
    } as KubernetesObject);
  }
  const timeIn = (seconds: number) => new Date((controller.now() + seconds) * 1000).toISOString();
  const timeNow = () => timeIn(0);
  const endedNow = () => ({
    name: 'main',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 143, startedAt: timeNow(), finishedAt: timeNow() } },
  });

  test.each(['Succeeded', 'Failed'] as const)(
    'has its place and its units although its kubelet says first that it has %s',
    async (phase) => {
      const place = placeOf(rows()[0]);
      end(phase, { deletionTimestamp: timeIn(30), deletionGracePeriodSeconds: 30 });
      await controller.seconds(3);
      expect(rows()).toMatchObject([{ phase: 'Running' }]);
      replace();
      await controller.seconds(5);
      expect(rows()).toMatchObject([{ phase: 'Finished', result: 'Cancelled' }, { phase: 'Running' }]);
      expect(placeOf(rows()[1])).toBe(place);
    },
  );

  test.each(Array.from({ length: 20 }, (_, turns) => turns))(
    'has its place where the watch shows its end %i turns after its deletion',
    async (turns) => {
      const place = placeOf(rows()[0]);
      const deleted = { deletionTimestamp: timeIn(30), deletionGracePeriodSeconds: 30 };
      const { store } = controller.apiserver;
      const pod = store.get<Pod>('pods', 'science/db-0')!;
      store.put('pods', { ...pod, metadata: { ...pod.metadata, ...deleted } });
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      end('Succeeded');
      await controller.seconds(3);
      expect(rows()).toMatchObject([{ phase: 'Running' }]);
      replace();
      await controller.seconds(5);
      expect(placeOf(waiting())).toBe(place);
    },
  );

  test('has its place after its kubelet evicted it, and the lost one has failed', async () => {
    const place = placeOf(rows()[0]);
    end('Failed');
    await controller.seconds(3);
    replace();
    await controller.seconds(5);
    expect(rows()).toMatchObject([{ phase: 'Finished', result: 'Failed' }, { phase: 'Running' }]);
    expect(placeOf(rows()[1])).toBe(place);
  });

  test('keeps units for ten seconds after its end, and its place while volumes are unmounted', async () => {
    const place = placeOf(rows()[0]);
    end('Failed');
    await controller.seconds(8);
    expect(await controller.held()).toHaveLength(1);
    await controller.seconds(4);
    expect(rows()).toMatchObject([{ phase: 'Finished', result: 'Failed' }]);
    expect(await controller.held()).toEqual([]);
    await controller.seconds(20);
    replace();
    await controller.seconds(5);
    expect(placeOf(waiting())).toBe(place);
  });

  test.each<[string, Partial<KubernetesObject['metadata']>, object]>([
    ['was scaled down', {}, { replicas: 0 }],
    ['counts from another number', {}, { replicas: 2, ordinals: { start: 1 } }],
    ['is being deleted', { deletionTimestamp: '2027-01-01T00:00:00Z' }, {}],
    ['is another one', { uid: 'new' }, {}],
  ])('keeps no units where its StatefulSet %s', async (_, metadata, spec) => {
    changeSet(metadata, spec);
    lose();
    await controller.seconds(1);
    expect(rows()).toMatchObject([{ phase: 'Finished', result: 'Cancelled' }]);
    expect(await controller.held()).toEqual([]);
  });

  test.each<[string, () => void]>([
    ['cannot be read', () => controller.apiserver.unreadable.add('statefulsets')],
    ['has more of them', () => changeSet({}, { replicas: 3 })],
  ])('keeps its units where its StatefulSet %s', async (_, change) => {
    change();
    lose();
    await controller.seconds(8);
    expect(await controller.held()).toHaveLength(1);
    await controller.seconds(4);
    expect(await controller.held()).toEqual([]);
  });

  test('has its place and its units although it was lost before its container ran', async () => {
    replace();
    await controller.seconds(0.5);
    const first = waiting()!;
    expect(first.phase).toBe('Ready');
    lose();
    await controller.seconds(2);
    expect(await controller.held()).toEqual([first.jobid]);
    create();
    await controller.seconds(2);
    expect(placeOf(waiting())).toBe(placeOf(first));
  });

  test.each([0.5, 2, 6])(
    'has its place and its units although its replacement is lost before it was granted them, after %d s',
    async (seconds) => {
      const place = placeOf(rows()[0]);
      const allocate = controller.queue.allocate.bind(controller.queue);
      controller.queue.allocate = async () => [];
      replace();
      await controller.seconds(0.5);
      expect(waiting()).toMatchObject({ phase: 'Waiting' });
      lose();
      await controller.seconds(seconds);
      controller.queue.allocate = allocate;
      await controller.seconds(2);
      expect(await controller.held()).toHaveLength(1);
      create();
      await controller.seconds(2);
      expect(waiting()).toMatchObject({ phase: 'Running', submittedAt: place });
      expect(await controller.held()).toHaveLength(1);
    },
  );

  test.each([true, false])(
    'has its place and its units although its replacement is lost as the first one ends (made at once: %s)',
    async (atOnce) => {
      const place = placeOf(rows()[0]);
      const finish = controller.queue.finish.bind(controller.queue);
      let lost = 0;
      controller.queue.finish = async (...call) => {
        lost += 1;
        if (lost > 1) return finish(...call);
        const finished = await finish(...call);
        lose();
        if (atOnce) create();
        // The watch shows it before the end of the first one is known.
        await pause(controller.clock, 100);
        return finished;
      };
      replace();
      await controller.seconds(1);
      expect(lost).toBeGreaterThan(0);
      if (!atOnce) create();
      await controller.seconds(2);
      expect(waiting()).toMatchObject({ phase: 'Running', submittedAt: place });
      expect(await controller.held()).toHaveLength(1);
    },
  );

  test('has its place although it is deleted while it waits, and its object goes a moment later', async () => {
    const place = placeOf(rows()[0]);
    const allocate = controller.queue.allocate.bind(controller.queue);
    controller.queue.allocate = async () => [];
    replace();
    await controller.seconds(0.5);
    const { store } = controller.apiserver;
    const pod = store.get<Pod>('pods', 'science/db-0')!;
    store.put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: timeNow() } });
    await controller.seconds(0.5);
    controller.queue.allocate = allocate;
    replace();
    await controller.seconds(2);
    expect(waiting()).toMatchObject({ phase: 'Running', submittedAt: place });
  });

  test('is tried at once after failed starts, because its template may be corrected', async () => {
    controller.queue.allocate = async () => [];
    replace();
    await controller.seconds(1);
    const row = waiting()!;
    const place = placeOf(row);
    Object.assign(row, { requeues: 6, notBefore: controller.now() + 3600, message: 'ErrImagePull' });
    replace();
    await controller.seconds(1);
    expect(placeOf(waiting())).toBe(place);
    expect(waiting()).toMatchObject({ requeues: 0, notBefore: null });
  });

  test.each([0, 4])(
    'has its place although it is lost again while it waits, and made after %i s',
    async (gap) => {
      const place = placeOf(rows()[0]);
      controller.queue.allocate = async () => [];
      replace();
      await controller.seconds(1);
      expect(waiting()).toMatchObject({ phase: 'Waiting' });
      if (gap > 0) {
        lose();
        await controller.seconds(gap);
        create();
      } else replace();
      await controller.seconds(1);
      expect(rows()).toHaveLength(3);
      expect(placeOf(waiting())).toBe(place);
    },
  );
});

test.each(Array.from({ length: 20 }, (_, turns) => turns))(
  'a pod that its kubelet ends for want of memory %i turns after its deletion has failed',
  async (turns) => {
    const controller = new SimulatedController();
    await controller.start();
    try {
      const { apiserver, queue } = controller;
      apiserver.create(pods('science'), {
        metadata: { name: 'alone', annotations: { [RUNS]: '600' } },
        spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }] },
        status: { phase: 'Pending' },
      });
      await controller.seconds(5);
      const pod = apiserver.store.get<Pod>('pods', 'science/alone')!;
      const deletionTimestamp = new Date((controller.now() + 30) * 1000).toISOString();
      const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 };
      apiserver.store.put('pods', { ...pod, metadata });
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      const status = { ...pod.status, phase: 'Failed', reason: 'Evicted' };
      apiserver.store.put('pods', { ...pod, metadata, status } as KubernetesObject);
      await controller.seconds(3);
      expect(queue.all).toMatchObject([{ phase: 'Finished', result: 'Failed' }]);
    } finally {
      await controller.close();
    }
  },
);

/** Times of submission are whole seconds. */
test.each([1, 5, 9])(
  'a pod that is made again comes before a Job that was submitted %i tenths of its second after it',
  async (tenths) => {
    const controller = new SimulatedController();
    await controller.start();
    try {
      controller.removeNode('node-1');
      createService(controller, 4);
      await controller.seconds(tenths / 10);
      controller.submit('later', { cores: 4 });
      await controller.seconds(2);
      const [first, later] = controller.queue.all;
      expect(later).toMatchObject({ phase: 'Waiting', submittedAt: first!.submittedAt });
      for (let round = 0; round < 3; round += 1) {
        controller.apiserver.store.remove('pods', 'science/db-0');
        createService(controller, 4);
        await controller.seconds(3);
        expect(controller.row('later')).toMatchObject({ phase: 'Waiting' });
        expect(controller.queue.all.filter(({ phase }) => phase === 'Running')).toMatchObject([
          { name: 'db-0' },
        ]);
      }
    } finally {
      await controller.close();
    }
  },
);
