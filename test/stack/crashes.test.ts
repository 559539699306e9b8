// Own cluster: the apiserver is restarted.
/**
 * Controllers, the Fluxion service, the apiserver and Postgres are killed,
 * stopped and restarted while jobs run. No workload is lost, misplaced or
 * granted units twice, and no units stay allocated at the end.
 */
import { Client } from 'pg';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { pods as podsPath } from '../../runtime/kubernetes/paths';
import type { Lease, Pod } from '../../runtime/kubernetes/types';
import type { Phase } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { expectNothingLost, untilAllFree } from './settled';
import { describeOwnStack } from './suite';
import { Namespace, NEVER_STARTS, UNTIL_ENDED } from './workloads';

/** The phases of a workload, from its first row to its end: a controller is killed as soon as one of them has come. */
const MOMENTS: readonly Phase[] = ['Waiting', 'Ready', 'Running', 'Finished'];
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';

/** On a busy machine a pod may be bound long after it was made: that is no reason to requeue a workload here. */
const GRANTS = { unschedulableSeconds: 3_600 };

describeOwnStack(
  'crashes of processes',
  (getFixture) => {
    let science: Namespace;
    let fluxion: RoleProcess;
    let submitted = 0;
    const controllers: RoleProcess[] = [];

    /** @param podUid that of the container before: its successor does not wait for the Lease of a dead process */
    const startController = async (podUid = 'pod') => {
      const { stack } = getFixture();
      const role = await stack.startController({
        fluxion: { address: stack.roles.fluxionAddress },
        leaderElection: { podUid },
        grants: GRANTS,
      });
      controllers.push(role);
      return role;
    };

    beforeAll(async () => {
      fluxion = await getFixture().stack.roles.startFluxion();
      await startController();
      science = await Namespace.create(getFixture, 'science');
    });

    /** Submits about three seconds of work. */
    async function submit(): Promise<void> {
      for (const _ of Array(6).keys()) {
        const i = submitted++;
        const annotations = { 'fluxqueue/walltime': '600s' };
        if (i % 6 === 0) await science.job(`wide-${i}`, { annotations, pods: 3, cores: 4 });
        else if (i % 6 === 1) await science.job(`loose-${i}`, { annotations, pods: 2, indexed: false });
        else if (i % 6 === 2) await science.pod(`plain-${i}`, { annotations });
        else await science.job(`small-${i}`, { annotations, cores: i % 4 });
      }
    }

    /** Resolves when one workload that is submitted from now on is in this phase, or is already in a later one. */
    async function untilOneIs(phase: Phase): Promise<void> {
      const before = science.uids.length;
      const reached = MOMENTS.slice(MOMENTS.indexOf(phase));
      await waitFor(
        `a workload to be ${phase}`,
        async () => {
          const rows = await getFixture().queue.byUid(science.uids.slice(before));
          return rows.some((row) => reached.includes(row.phase));
        },
        { everyMs: 5 },
      );
    }

    async function expectUndisturbed(): Promise<void> {
      await expectNothingLost(science);
      // A restart neither cancels nor requeues a workload.
      const rows = await getFixture().queue.byUid(science.uids);
      expect(rows.filter(({ result, requeues }) => result !== 'Succeeded' || requeues > 0)).toEqual([]);
      const address = getFixture().stack.roles.fluxionAddress;
      const client = connectFluxion({ address });
      try {
        await untilAllFree(client);
      } finally {
        await client.close();
      }
    }

    const isLeader = async (role: RoleProcess) => /^fluxqueue_leader 1$/m.test(await role.metrics());
    const holder = async () => (await getFixture().client.get<Lease>(LEASE)).spec?.holderIdentity ?? '';

    test('no workload is lost when the controller is killed at different moments', async () => {
      for (const moment of MOMENTS) {
        const come = untilOneIs(moment);
        const submission = submit();
        await come;
        await controllers.pop()!.crash();
        await submission;
        await startController();
      }
      await expectUndisturbed();
    });

    test('a Job whose first container starts while no controller is there has its whole walltime', async () => {
      const { client } = getFixture();
      const walltime = 5;
      const late = await Namespace.create(getFixture, 'late');
      const job = await late.job('pulls', {
        annotations: { 'fluxqueue/walltime': `${walltime}s` },
        runs: UNTIL_ENDED,
        neverStarts: true,
      });
      const bound = await waitFor('its pod to be bound', async () =>
        (await late.podsOf(job)).find(({ spec }) => spec.nodeName !== undefined),
      );
      const { releasedAt } = await late.phase(job, 'Ready');
      await controllers.pop()!.crash();
      await waitFor(
        'its walltime since its release',
        async () => Date.now() / 1000 > releasedAt! + walltime + 2,
      );
      const path = podsPath(late.name, bound.metadata.name);
      await client.patch(path, { metadata: { annotations: { [NEVER_STARTS]: null } } }, 'merge');
      await waitFor('its pod to run', async () => (await client.get<Pod>(path)).status?.phase === 'Running');
      await startController();
      const { result, startedAt, finishedAt } = await late.phase(job, 'Finished');
      expect(result).toBe('TimedOut');
      expect(startedAt! - releasedAt!).toBeGreaterThan(walltime);
      // Kubernetes tells both in whole seconds.
      expect(finishedAt! - startedAt!).toBeGreaterThanOrEqual(walltime - 1);
    });

    test('no workload is lost when the Fluxion service is killed', async () => {
      const come = untilOneIs('Running');
      await submit();
      await come;
      await fluxion.crash();
      await submit();
      fluxion = await getFixture().stack.roles.startFluxion();
      await expectUndisturbed();
    });

    test('no workload is lost when the apiserver is restarted', async () => {
      await submit();
      await getFixture().stack.cluster.restartApiserver();
      await waitFor('the apiserver to accept jobs', async () => {
        await submit();
        return true;
      });
      await expectUndisturbed();
    });

    test('the controller is not ready while Postgres is down, and no workload is lost', async () => {
      const { postgres } = getFixture().stack;
      await submit();
      await postgres.kill();
      await submit();
      const [leader] = controllers;
      await waitFor('the controller to be not ready', async () => !(await leader!.isReady()));
      expect(await leader!.notReady()).toMatch(/^not ready: FLUXQ_DATABASE_DOWN: /);
      await postgres.restart();
      await waitFor('the controller to be ready', () => leader!.isReady());
      await expectUndisturbed();
    });

    test('a frozen leader is replaced and does not lead when it resumes', async () => {
      const [first] = controllers;
      await waitFor('the first controller to lead', () => isLeader(first!));
      const second = await startController('other-pod');
      // A rolling update ends the leader as soon as its replacement is ready.
      expect(await second.metrics()).toMatch(/^fluxqueue_standby_warm 1$/m);
      await submit();
      first!.process.signal('SIGSTOP');
      // It cannot renew its Lease, which is over sooner so.
      await getFixture().client.patch(LEASE, { spec: { leaseDurationSeconds: 1 } }, 'merge');
      const come = untilOneIs('Running');
      await submit();
      await waitFor('the second controller to lead', () => isLeader(second));
      await come;
      first!.process.signal('SIGCONT');
      await submit();
      await expectUndisturbed();
      // It exits, to be restarted, or is a candidate again.
      await waitFor(
        'the first controller not to lead',
        async () => !(first!.process.running && (await isLeader(first!))),
      );
      // It may be about to exit because it was fenced, which is no answer to the SIGTERM of the next test.
      await first!.crash();
    });

    test('a controller releases the Lease at SIGTERM', async () => {
      for (const role of controllers.splice(0)) {
        if (!role.process.running) continue;
        await role.stop();
        expect(await role.process.exited).toBe('exit code 0');
      }
      expect(await holder()).toBe('');
      await submit();
      await startController();
      await expectUndisturbed();
    });

    test('a term that is fenced at its last write does not end the next term', async () => {
      const [leader] = controllers;
      await waitFor('the first controller to lead', () => isLeader(leader!));
      const identity = await holder();
      const other = new Client({ connectionString: getFixture().stack.postgres.url });
      await other.connect();
      try {
        // A newer fence is in an open transaction: every write of the leader waits for its commit.
        await other.query('BEGIN');
        await other.query('UPDATE fluxqueue.leader SET fence = fence + 1');
        await submit();
        await waitFor('a blocked write', async () => {
          const { rowCount } = await other.query('SELECT FROM pg_locks WHERE NOT granted');
          return rowCount !== 0;
        });
        // This holder never renews the Lease.
        const taken = { spec: { holderIdentity: 'other', leaseDurationSeconds: 1 } };
        await getFixture().client.patch(LEASE, taken, 'merge');
        await waitFor('the controller to hold the Lease again', async () => (await holder()) === identity);
        expect(await isLeader(leader!)).toBe(false);
        await other.query('COMMIT');
      } finally {
        await other.end();
      }
      await waitFor('the controller to lead again', () => isLeader(leader!));
      expect(leader!.process.logTail()).toContain('FLUXQ_FENCED');
      await expectUndisturbed();
    });

    test('a leader exits with FLUXQ_FENCED if the database has a newer leader', async () => {
      const leader = controllers.pop()!;
      await getFixture().queue.acquireFence('other');
      await submit();
      expect(await leader.process.exited).toBe('exit code 1');
      expect(leader.process.logTail()).toContain('FLUXQ_FENCED');
      await startController();
      await expectUndisturbed();
    });
  },
  {
    createsMiniClusters: false,
    cluster: { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
    postgres: { own: true },
  },
);
