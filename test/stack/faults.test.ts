/**
 * The crash matrix on the real control plane: a term crashes before and after a
 * kind of commit, patch and call, or loses the answer, while jobs of every
 * kind run; other kinds each day. Afterwards no workload is lost, misplaced or granted units twice,
 * and no units stay allocated.
 */
import { GATE } from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { CALLS, type CallName } from '../crash-matrix/fault-points';
import { drawOf } from '../seed';
import type { Fault, FaultInjector } from './fault-injector';
import { expectNothingLost, untilAllFree } from './settled';
import { describeStack } from './suite';
import { Terms } from './terms';
import { Namespace } from './workloads';

const NODES = 4;
const CORES = 4;
/** On a busy machine a pod may be bound long after it was made: that is no fault here. */
const GRANTS = { unschedulableSeconds: 3_600 };
/** FluxJobs are written at once, however many workloads a fast machine ends in a second. */
const STATUSES = { busyPerSecond: 1_000 };
/** Milliseconds after which a test hangs. */
const TIMEOUT = 300_000;

/** Calls for changed queues, preemptions and a changed graph. Only test/crash-matrix injects faults into them. */
const CALLS_ELSEWHERE: readonly CallName[] = [
  'queue.setQueues',
  'queue.requestEviction',
  'fluxion.removeNodes',
  'fluxion.addNodes',
];
/** A third of the others each day, all of them with NIGHTLY=1. */
const CALLS_TODAY = drawOf(
  CALLS.filter((call) => !CALLS_ELSEWHERE.includes(call)),
  Math.ceil((CALLS.length - CALLS_ELSEWHERE.length) / 3),
);

/** A crash at the first and at a later call of this kind, and a lost answer without a crash. */
function faultsOf(call: string): readonly Fault[] {
  const once: Fault[] = [
    { call, when: 'before', nth: 1, crash: true },
    { call, when: 'after', nth: 1, crash: true },
  ];
  // A term without disturbances makes this call once.
  if (call === 'queue.requeue') return [...once, { call, when: 'after', nth: 1, crash: false }];
  if (call === 'queue.active' || call === 'fluxion.init' || call === 'fluxion.replay') return once;
  return [
    ...once,
    { call, when: 'after', nth: 3, crash: true },
    { call, when: 'after', nth: 1, crash: false },
  ];
}

describeStack(
  'a fault at any call of a term',
  (getFixture) => {
    let terms: Terms;
    let science: Namespace;
    let submitted = 0;

    beforeAll(async () => {
      terms = await Terms.create(getFixture(), { grants: GRANTS, statuses: STATUSES });
      science = await Namespace.create(getFixture, 'science');
    });
    afterAll(() => terms.stop());

    /** Submits one workload of each kind; the last one is held until its user releases it. */
    async function submit(): Promise<{ held: KubernetesObject; victim: KubernetesObject }> {
      const i = submitted++;
      const annotations = { 'fluxqueue/walltime': '60s' };
      const common = { annotations, runs: '200ms' };
      await science.job(`gang-${i}`, { ...common, pods: 3, cores: CORES });
      await science.job(`loose-${i}`, { ...common, pods: 2, cores: 2, indexed: false });
      await science.pod(`plain-${i}`, common);
      const victim = await science.job(`victim-${i}`, { ...common, cores: 2 });
      const held = await science.job(`held-${i}`, { ...common, labels: { 'fluxqueue/hold': 'true' } });
      return { held, victim };
    }

    async function disturb({ held, victim }: Awaited<ReturnType<typeof submit>>): Promise<void> {
      if (submitted % 2 === 0)
        await science.delete(victim, 'Job', submitted % 4 === 0 ? 'Foreground' : 'Background');
      await science.patch(held, 'Job', { metadata: { labels: { 'fluxqueue/hold': 'false' } } });
    }

    /** Removes the node of a running job, which causes a call of `queue.requeue`. */
    async function loseNode({ sprung }: FaultInjector): Promise<void> {
      const { cluster } = getFixture().stack;
      const i = submitted++;
      // No other pod uses this node: a bare Pod on a deleted node ends only when the controller manager deletes it.
      const taint = { key: 'spare', value: `${i}`, effect: 'NoSchedule' };
      const shape = { cpu: String(CORES), labels: { spare: `${i}` }, taints: [taint] };
      const [name] = await cluster.addNodes(1, shape);
      const job = await science.job(`moved-${i}`, {
        cores: CORES,
        // Long enough for its node to be lost meanwhile: else another one is tried.
        runs: '5s',
        podSpec: {
          nodeSelector: { spare: `${i}` },
          tolerations: [{ key: 'spare', operator: 'Equal', value: `${i}`, effect: 'NoSchedule' }],
        },
        annotations: { 'fluxqueue/walltime': '60s' },
      });
      // A job that the previous term had to requeue also triggers the fault.
      await Promise.race([science.phase(job, 'Running'), sprung]);
      await cluster.removeNode(name!);
      // The job can run on this node after the fault.
      await cluster.addNodes(1, shape);
    }

    /** Whether every workload with one of these uids has ended; the victim of a batch may have gone before it had a row. */
    async function isOver(uids: readonly string[]): Promise<boolean> {
      const rows = await getFixture().queue.byUid(uids);
      return rows.length >= uids.length - 1 && rows.every(({ phase }) => phase === 'Finished');
    }

    async function inject(fault: Fault): Promise<void> {
      const faults = await terms.next(fault);
      for (let tries = 0; !faults.isSprung && tries < 4; tries++) {
        const before = science.uids.length;
        const batch = await submit();
        // Only a waiting row can be updated.
        if (fault.call === 'queue.update')
          await Promise.race([science.phase(batch.held, 'Waiting'), faults.sprung]);
        // A FluxJob that exists is patched when its Job ends.
        if (fault.call === 'client.patch fluxjobs')
          await Promise.race([
            science.shown(`${batch.held.metadata.name}-job`, 'Waiting', 'Held'),
            faults.sprung,
          ]);
        await disturb(batch);
        if (fault.call === 'queue.requeue') await loseNode(faults);
        const uids = science.uids.slice(before);
        await waitFor(
          `the fault ${JSON.stringify(fault)}, or the end of what was submitted for it`,
          async () => faults.isSprung || (await isOver(uids)),
          { timeoutMs: TIMEOUT },
        );
      }
      expect(faults.isSprung).toBe(true);
    }

    /** Waits for the end of all workloads and checks the invariants. */
    async function expectSettled(): Promise<void> {
      await expectNothingLost(science, TIMEOUT);
      await untilAllFree(terms.fluxion);
      const gated = (await science.pods()).filter(({ spec }) =>
        spec.schedulingGates?.some(({ name }) => name === GATE),
      );
      expect(gated).toEqual([]);
    }

    describe.each([...Map.groupBy(CALLS_TODAY, (call) => call.split('.')[0])])('%s', (_port, calls) => {
      test.each(calls)('%s', async (call) => {
        for (const fault of faultsOf(call)) await inject(fault);
      });

      test('leaves no workload lost, misplaced or granted units twice, and no units allocated', async () => {
        await terms.next();
        await expectSettled();
        expect(terms.fenced).toEqual([]);
      });
    });

    test('every FluxJob is Finished', async () => {
      const { client } = getFixture();
      await waitFor('all FluxJobs to be Finished', async () => {
        const { items } = await client.list<{ status?: { phase?: string } } & KubernetesObject>(
          '/apis/jobs.converged-computing.org/v1alpha1/namespaces/science/fluxjobs',
        );
        const open = items.filter(({ status }) => status?.phase !== 'Finished');
        if (open.length > 0) throw new Error(open.map(({ metadata }) => metadata.name).join(', '));
        return items.length > 0;
      });
    });
  },
  { nodes: NODES, nodeShape: { cpu: String(CORES), memory: '64Gi' } },
);
