/** The label of a MiniCluster whose objects are being written, against a fake apiserver. */
import { APPLYING_LABEL } from '../../constructs/api/labels';
import { ALL, errorOf, FakeApiserver, STATUS } from './fake-apiserver';

describe('an object that the apiserver compares with another spec', () => {
  const LABEL = 'patch miniclusters/hello';
  const message = 'denied request: FLUXQ_MINICLUSTER_UNKNOWN: metadata.ownerReferences: no such MiniCluster';
  const refusing = () => {
    const apiserver = new FakeApiserver();
    apiserver.reject = { call: ALL[0]!, error: errorOf(422, message) };
    return apiserver;
  };

  test('is repeated at once after the cluster got the label, which it loses when all are written', async () => {
    const apiserver = refusing();
    expect(await apiserver.reconcile()).toEqual({ calls: [ALL[0], LABEL, STATUS], requeueAfter: 0.03 });
    const metadata = (value: string | null) => ({ uid: 'u', labels: { [APPLYING_LABEL]: value } });
    expect(apiserver.bodies).toContainEqual({ metadata: metadata('true') });
    expect(apiserver.condition('Stalled').status).toBe('False');
    apiserver.reject = undefined;
    expect((await apiserver.reconcile()).calls).toEqual([...ALL, LABEL]);
    expect(apiserver.bodies.at(-1)).toEqual({ metadata: metadata(null) });
    apiserver.now += 400;
    expect((await apiserver.reconcile()).calls).toEqual(ALL);
  });

  test('is reported after ten seconds', async () => {
    const apiserver = refusing();
    await apiserver.reconcile();
    apiserver.now += 11;
    expect((await apiserver.reconcile()).requeueAfter).toBe(30);
    expect(apiserver.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Forbidden' });
  });

  test('leaves the label of an earlier process for the next write only', async () => {
    const apiserver = new FakeApiserver();
    const { cluster } = apiserver;
    apiserver.cluster = {
      ...cluster!,
      metadata: { ...cluster!.metadata, labels: { [APPLYING_LABEL]: 'true' } },
    };
    expect((await apiserver.reconcile()).calls).toEqual([...ALL, LABEL, STATUS]);
  });
});

describe('where the apiserver compares with one labelled cluster of the namespace only', () => {
  const NONE =
    'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  const TURN =
    'denied request: FLUXQ_MINICLUSTER_TURN: another MiniCluster of this namespace is being applied';
  const OTHER = 'patch miniclusters/other';
  const refusing = (message: string, labels: Record<string, string> = {}) => {
    const apiserver = new FakeApiserver();
    const { metadata, spec } = apiserver.cluster!;
    apiserver.others = [{ metadata: { ...metadata, name: 'other', uid: 'o', labels }, spec }];
    apiserver.refuse = (call) => (call.startsWith('apply configmaps') ? errorOf(403, message) : undefined);
    return apiserver;
  };
  const other = (apiserver: FakeApiserver) => apiserver.reconcile('science/other');

  test('a cluster waits without the label while another one is written', async () => {
    const apiserver = refusing(NONE);
    expect((await apiserver.reconcile()).calls).toContain('patch miniclusters/hello');
    const writes = async () => (await other(apiserver)).calls.filter((call) => !call.endsWith('/status'));
    for (const _ of [1, 2]) expect(await writes()).toEqual([]);
    expect(await other(apiserver)).toMatchObject({ requeueAfter: 0.03 });
    apiserver.refuse = undefined;
    await apiserver.reconcile();
    apiserver.refuse = (call) => (call.startsWith('apply configmaps') ? errorOf(403, NONE) : undefined);
    expect((await other(apiserver)).calls).toContain(OTHER);
  });

  test.each([
    ['is invalid', (apiserver: FakeApiserver) => apiserver.edit({ maxSize: 1, size: 2 })],
    [
      'is made again under its name',
      (apiserver: FakeApiserver) => {
        const { metadata, spec } = apiserver.cluster!;
        apiserver.cluster = { metadata: { ...metadata, uid: 'again' }, spec: { ...spec, size: 0 } };
      },
    ],
    ['is deleted', (apiserver: FakeApiserver) => (apiserver.cluster = undefined)],
    [
      'fails',
      (apiserver: FakeApiserver) =>
        (apiserver.refuse = (call) => errorOf(call.startsWith('apply configmaps/hello') ? 500 : 403, NONE)),
    ],
    ['is refused for too long', (apiserver: FakeApiserver) => (apiserver.now += 11)],
  ])('a cluster that %s holds up no other one', async (_, ends) => {
    const apiserver = refusing(NONE);
    await apiserver.reconcile();
    ends(apiserver);
    await apiserver.reconcile().catch(() => undefined);
    apiserver.refuse = (call) => (call.startsWith('apply configmaps') ? errorOf(403, NONE) : undefined);
    expect((await other(apiserver)).calls).toContain(OTHER);
  });

  test('a label that an earlier process left is removed', async () => {
    const apiserver = refusing(TURN, { [APPLYING_LABEL]: 'true' });
    expect((await apiserver.reconcile()).calls).toEqual(
      expect.arrayContaining([OTHER, 'patch miniclusters/hello']),
    );
    expect(apiserver.bodies).toContainEqual({ metadata: { uid: 'o', labels: { [APPLYING_LABEL]: null } } });
  });

  test('a refusal from before an error of the apiserver does not count', async () => {
    const apiserver = refusing(NONE);
    await apiserver.reconcile();
    const { refuse } = apiserver;
    apiserver.refuse = () => errorOf(500, 'the apiserver is overloaded');
    await expect(apiserver.reconcile()).rejects.toThrow('overloaded');
    apiserver.now += 11;
    apiserver.refuse = refuse;
    expect(await apiserver.reconcile()).toMatchObject({ requeueAfter: 0.03 });
    expect(apiserver.condition('Stalled').status).toBe('False');
  });

  const isWrite = (name: string) => (call: string) => call === `apply configmaps/${name}-config`;

  /** Ends the turn of the cluster: everything of it is written. */
  const endTurn = async (apiserver: FakeApiserver, name: string) => {
    const { refuse } = apiserver;
    apiserver.refuse = undefined;
    await apiserver.reconcile(`science/${name}`);
    apiserver.refuse = refuse;
  };

  /** @returns how often clusters look whether it is their turn until all had theirs, each three times as long as it can be */
  const attempts = async (count: number) => {
    const apiserver = refusing(NONE);
    const { metadata, spec } = apiserver.cluster!;
    const names = Array.from({ length: count }, (_, i) => `c${i}`);
    apiserver.others = names.map((name) => ({ metadata: { ...metadata, name, uid: name }, spec }));
    await apiserver.reconcile();
    let holder = 'hello';
    let tries = 0;
    const next = new Map(names.map((name) => [name, 0]));
    for (let tick = 0; next.size > 0 && tick < 100 * count; tick += 1) {
      if (tick % 3 === 2) await endTurn(apiserver, holder);
      for (const [name] of [...next].filter(([, at]) => at <= tick)) {
        tries += 1;
        const { calls, requeueAfter } = await apiserver.reconcile(`science/${name}`);
        next.set(name, tick + Math.round(requeueAfter! / 0.03));
        if (!calls.some(isWrite(name))) continue;
        holder = name;
        next.delete(name);
      }
    }
    expect([...next.keys()]).toEqual([]);
    return tries;
  };

  test('many clusters that wait look no more often for their turn than it can have come', async () => {
    const [some, twice] = [await attempts(20), await attempts(40)];
    expect(twice / some).toBeLessThan(3);
  });
});
