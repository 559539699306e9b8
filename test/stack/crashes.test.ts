/**
 * Processes die, freeze and come back while jobs flow: controllers, the
 * Fluxion service, the apiserver, Postgres. Nothing is lost, misplaced or
 * granted twice, and at the end nothing is held.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import type { Lease } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { describeStack } from './suite';
import { Namespace } from './workloads';

/** Quick handovers. */
const ELECTION = { leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 1 };
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';

describeStack(
  'processes that die',
  (getFixture) => {
    let science: Namespace;
    let fluxion: RoleProcess;
    let made = 0;
    const controllers: RoleProcess[] = [];

    const startController = async () => {
      const { stack } = getFixture();
      const role = await stack.startController({
        fluxion: { address: stack.roles.fluxionAddress },
        leaderElection: ELECTION,
      });
      controllers.push(role);
      return role;
    };

    beforeAll(async () => {
      fluxion = await getFixture().stack.roles.startFluxion();
      await startController();
      science = await Namespace.create(getFixture, 'science');
    }, 60_000);

    /** About three seconds of work for the cluster. */
    async function submit(): Promise<void> {
      for (const _ of Array(6).keys()) {
        const i = made++;
        const annotations = { 'fluxqueue/walltime': '60s' };
        if (i % 6 === 0) await science.job(`wide-${i}`, { annotations, pods: 3, cores: 4 });
        else if (i % 6 === 1) await science.job(`loose-${i}`, { annotations, pods: 2, indexed: false });
        else if (i % 6 === 2) await science.pod(`plain-${i}`, { annotations });
        else await science.job(`small-${i}`, { annotations, cores: i % 4 });
      }
    }

    async function expectNothingLost(): Promise<void> {
      await science.finished();
      const { jobs, finished, misplaced, lost, doubleGranted } = await science.verdict();
      expect({ finished, misplaced, lost, doubleGranted }).toEqual({
        finished: jobs,
        misplaced: 0,
        lost: 0,
        doubleGranted: 0,
      });
      // A restart changes nothing: nobody was cancelled, or sent back to the queue.
      const rows = await getFixture().queue.byUid(science.uids);
      expect(rows.filter(({ result, requeues }) => result !== 'Succeeded' || requeues > 0)).toEqual([]);
      const address = getFixture().stack.roles.fluxionAddress;
      const client = connectFluxion({ address });
      try {
        await waitFor('Fluxion to hold nothing', async () => {
          const { jobs: held, nodes } = await client.state();
          return held.length === 0 && nodes.every(({ free, total }) => free.core === total.core);
        });
      } finally {
        await client.close();
      }
    }

    const isLeader = async (role: RoleProcess) => /^fluxqueue_leader 1$/m.test(await role.metrics());
    const holder = async () => (await getFixture().client.get<Lease>(LEASE)).spec?.holderIdentity ?? '';

    test('the controller is killed at any moment', async () => {
      for (const moment of [50, 400, 900]) {
        await submit();
        await pause(moment);
        await controllers.pop()!.crash();
        await startController();
      }
      await expectNothingLost();
    }, 90_000);

    test('the Fluxion service is killed', async () => {
      await submit();
      await pause(300);
      await fluxion.crash();
      await submit();
      fluxion = await getFixture().stack.roles.startFluxion();
      await expectNothingLost();
    }, 90_000);

    test('the apiserver is restarted', async () => {
      await submit();
      await getFixture().stack.cluster.restartApiserver();
      await waitFor('it to take jobs', async () => {
        await submit();
        return true;
      });
      await expectNothingLost();
    }, 90_000);

    test('Postgres is restarted; meanwhile the controller says what it misses', async () => {
      const { postgres } = getFixture().stack;
      await submit();
      await postgres.kill();
      await submit();
      const [leader] = controllers;
      await waitFor('it to say so', async () => !(await leader!.isReady()));
      expect(await leader!.notReady()).toMatch(/^not ready: FLUXQ_DATABASE_DOWN: /);
      await postgres.restart();
      await waitFor('it to be ready', () => leader!.isReady());
      await expectNothingLost();
    }, 90_000);

    test('a leader that freezes is followed by another, and stops when it wakes', async () => {
      const [first] = controllers;
      await waitFor('it to lead', () => isLeader(first!));
      const second = await startController();
      await submit();
      first!.process.signal('SIGSTOP');
      await submit();
      await waitFor('the other to lead', () => isLeader(second));
      await pause(200);
      first!.process.signal('SIGCONT');
      await submit();
      await expectNothingLost();
      // It ends, to be started afresh, or stands for election again: it does not lead.
      expect(first!.process.running && (await isLeader(first!))).toBe(false);
    }, 90_000);

    test('SIGTERM hands over at once: the Lease is given up', async () => {
      for (const role of controllers.splice(0)) {
        if (!role.process.running) continue;
        await role.stop();
        expect(await role.process.exited).toBe('exit code 0');
      }
      expect(await holder()).toBe('');
      await submit();
      await startController();
      await expectNothingLost();
    }, 90_000);

    test('a term that is over and is fenced at its last write ends no later one', async () => {
      const [leader] = controllers;
      await waitFor('it to lead', () => isLeader(leader!));
      const itself = await holder();
      const other = new Client({ connectionString: getFixture().stack.postgres.url });
      await other.connect();
      try {
        // Overtaken in the tables, and nobody can see it yet: every write waits to know.
        await other.query('BEGIN');
        await other.query('UPDATE fluxqueue.leader SET fence = fence + 1');
        await submit();
        await waitFor('a write to be under way', async () => {
          const { rowCount } = await other.query('SELECT FROM pg_locks WHERE NOT granted');
          return rowCount !== 0;
        });
        // Whoever takes the Lease here never renews it.
        const taken = { spec: { holderIdentity: 'somebody', leaseDurationSeconds: 1 } };
        await getFixture().client.patch(LEASE, taken, 'merge');
        await waitFor('it to have the Lease again', async () => (await holder()) === itself);
        expect(await isLeader(leader!)).toBe(false);
        await other.query('COMMIT');
      } finally {
        await other.end();
      }
      await waitFor('it to lead again', () => isLeader(leader!));
      expect(leader!.process.logTail()).toContain('FLUXQ_FENCED');
      await expectNothingLost();
    }, 90_000);

    test('a leader that was overtaken unawares ends, to be started afresh', async () => {
      const leader = controllers.pop()!;
      await getFixture().queue.acquireFence('somebody');
      await submit();
      expect(await leader.process.exited).toBe('exit code 1');
      expect(leader.process.logTail()).toContain('FLUXQ_FENCED');
      await startController();
      await expectNothingLost();
    }, 90_000);
  },
  { cluster: { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } }, postgres: { own: true } },
);
