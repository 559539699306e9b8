/**
 * The crash matrix: a term is killed before and after every kind of commit,
 * patch and call, and answers are lost without a crash, while jobs of every
 * kind flow. Afterwards nothing is lost, misplaced, granted twice or held.
 */
import { GATE } from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { CALLS, type CallName } from '../crash-matrix/fault-points';
import type { Fault, FaultInjector } from './fault-injector';
import { describeStack } from './suite';
import { Terms } from './terms';
import { Namespace } from './workloads';

const NODES = 4;
const CORES = 4;

/** Changed queues, preemption and a changed graph: their faults are the crash matrix's alone (test/crash-matrix). */
const ELSEWHERE: readonly CallName[] = [
  'queue.setQueues',
  'queue.recall',
  'fluxion.removeNodes',
  'fluxion.addNodes',
];
const HERE = CALLS.filter((call) => !ELSEWHERE.includes(call));

/** A crash at the first and at a later call of its kind, and an answer that is lost without a crash. */
function faultsOf(call: string): readonly Fault[] {
  const once: Fault[] = [
    { call, when: 'before', nth: 1, crash: true },
    { call, when: 'after', nth: 1, crash: true },
  ];
  // Called once by a term that nothing disturbs.
  if (call === 'queue.requeue') return [...once, { call, when: 'after', nth: 1, crash: false }];
  if (call === 'queue.active' || call === 'fluxion.init' || call === 'fluxion.replay') return once;
  return [
    ...once,
    { call, when: 'after', nth: 3, crash: true },
    { call, when: 'after', nth: 1, crash: false },
  ];
}

describeStack(
  'a term that dies at any call',
  (getFixture) => {
    let terms: Terms;
    let science: Namespace;
    let made = 0;

    beforeAll(async () => {
      terms = await Terms.create(getFixture());
      science = await Namespace.create(getFixture, 'science');
    });
    afterAll(() => terms.stop());

    /** One of everything; the last one is held until its user says otherwise. */
    async function submit(): Promise<{ held: KubernetesObject; victim: KubernetesObject }> {
      const i = made++;
      const annotations = { 'fluxqueue/walltime': '60s' };
      const common = { annotations, runs: '200ms' };
      await science.job(`gang-${i}`, { ...common, pods: 3, cores: CORES });
      await science.job(`loose-${i}`, { ...common, pods: 2, cores: 2, indexed: false });
      await science.pod(`plain-${i}`, common);
      const victim = await science.job(`victim-${i}`, { ...common, cores: 2 });
      const held = await science.job(`held-${i}`, { ...common, labels: { 'fluxqueue/hold': 'true' } });
      return { held, victim };
    }

    async function stir({ held, victim }: Awaited<ReturnType<typeof submit>>): Promise<void> {
      if (made % 2 === 0) await science.delete(victim, 'Job', made % 4 === 0 ? 'Foreground' : 'Background');
      await science.patch(held, 'Job', { metadata: { labels: { 'fluxqueue/hold': 'false' } } });
    }

    /** Takes a node away from under a job, for `queue.requeue` to be called. */
    async function loseNode({ sprung }: FaultInjector): Promise<void> {
      const { cluster } = getFixture().stack;
      const i = made++;
      // For this job alone: a plain Pod on a deleted node ends only when the controller manager collects it.
      const taint = { key: 'spare', value: `${i}`, effect: 'NoSchedule' };
      const shape = { cpu: String(CORES), labels: { spare: `${i}` }, taints: [taint] };
      const [name] = await cluster.addNodes(1, shape);
      const job = await science.job(`moved-${i}`, {
        cores: CORES,
        runs: '2s',
        podSpec: {
          nodeSelector: { spare: `${i}` },
          tolerations: [{ key: 'spare', operator: 'Equal', value: `${i}`, effect: 'NoSchedule' }],
        },
        annotations: { 'fluxqueue/walltime': '60s' },
      });
      // A job that the term before was to send back springs it too.
      await Promise.race([science.phase(job, 'Running'), sprung]);
      await cluster.removeNode(name!);
      // Where it can run again, after whatever went wrong.
      await cluster.addNodes(1, shape);
    }

    async function spring(fault: Fault): Promise<void> {
      const faults = await terms.next(fault);
      for (let tries = 0; !faults.isSprung && tries < 4; tries++) {
        const batch = await submit();
        // So that there is something to update.
        if (fault.call === 'queue.update')
          await Promise.race([science.phase(batch.held, 'Waiting'), faults.sprung]);
        await stir(batch);
        if (fault.call === 'queue.requeue') await loseNode(faults);
        await waitFor(`${JSON.stringify(fault)} to spring`, () => faults.isSprung, {
          timeoutMs: 3_000,
        }).catch(() => undefined);
      }
      expect(faults.isSprung).toBe(true);
    }

    /** What must be true when everything is over. */
    async function settled(): Promise<void> {
      await science.finished(40_000);
      const { jobs, finished, misplaced, lost, doubleGranted } = await science.verdict();
      expect({ finished, misplaced, lost, doubleGranted }).toEqual({
        finished: jobs,
        misplaced: 0,
        lost: 0,
        doubleGranted: 0,
      });
      await waitFor('Fluxion to hold nothing', async () => {
        const { jobs: held, nodes } = await terms.fluxion.state();
        return held.length === 0 && nodes.every(({ free, total }) => free.core === total.core);
      });
      const gated = (await science.pods()).filter(({ spec }) =>
        spec.schedulingGates?.some(({ name }) => name === GATE),
      );
      expect(gated).toEqual([]);
    }

    describe.each(['queue', 'client', 'fluxion'])('%s', (port) => {
      test.each(HERE.filter((call) => call.startsWith(port)))('%s', async (call) => {
        for (const fault of faultsOf(call)) await spring(fault);
      });

      test('nothing is lost, misplaced, granted twice or held', async () => {
        await terms.next();
        await settled();
        expect(terms.fenced).toEqual([]);
      });
    });

    test('every FluxJob says how it ended', async () => {
      const { client } = getFixture();
      await waitFor('all to say Finished', async () => {
        const { items } = await client.list<{ status?: { phase?: string } } & KubernetesObject>(
          '/apis/jobs.converged-computing.org/v1alpha1/namespaces/science/fluxjobs',
        );
        const open = items.filter(({ status }) => status?.phase !== 'Finished');
        if (open.length > 0) throw new Error(open.map(({ metadata }) => metadata.name).join(', '));
        return items.length > 0;
      });
    });
  },
  { cluster: { nodes: NODES, nodeShape: { cpu: String(CORES), memory: '64Gi' } } },
);
