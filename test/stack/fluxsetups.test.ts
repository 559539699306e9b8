/** FluxSetups on the real control plane: the effect of created, changed and deleted queues on workloads. */

import { type FluxSetupObject, fluxSetups } from '../../runtime/kubernetes/custom-resources';
import { jobs, priorityClasses } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'FluxSetups',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    const update = (name: string, spec: object) =>
      getFixture().client.patch(fluxSetups(science.name, name), { spec }, 'merge');
    const remove = (name: string) => getFixture().client.delete(fluxSetups(science.name, name));
    /** Resolves to the FluxSetup once its status has these fields. */
    const hasStatus = (name: string, status: FluxSetupObject['status'] & object) =>
      waitFor(`FluxSetup ${name} to have the status ${JSON.stringify(status)}`, async () => {
        const found = await getFixture().client.get<FluxSetupObject>(fluxSetups(science.name, name));
        try {
          expect(found.status).toMatchObject(status);
        } catch {
          throw new Error(`its status is ${JSON.stringify(found.status)}`);
        }
        return found;
      });
    const condition = (object: FluxSetupObject, wanted: string) =>
      object.status?.conditions?.find(({ type }) => type === wanted);
    /** Waits for the Stalled condition of a waiting FluxJob. */
    const isStalled = (name: string, reason: string, status: 'True' | 'False') =>
      waitFor(`${name} to have Stalled=${status}`, async () => {
        const shown = await science.shown(name, 'Waiting', reason);
        return shown.status!.conditions!.find(({ type }) => type === 'Stalled')!.status === status;
      });

    test('a FluxSetup creates its queue, counts its workloads, and limits them by its quota until the quota grows', async () => {
      await science.fluxSetup('team', { quota: { cores: 4, pods: 10 }, walltime: { default: '90s' } });
      const full = await science.job('full', { cores: 4, runs: UNTIL_ENDED });
      const running = await science.phase(full, 'Running');
      expect(running).toMatchObject({ queue: `${science.name}/team`, walltime: 90, user: 'admin' });
      const more = await science.job('more', { cores: 2, runs: UNTIL_ENDED });
      const waits = await science.phase(more, 'Waiting', 'QuotaExceeded');
      expect(waits.message).toMatch(/4 cores/);
      const shown = await science.shown('more-job', 'Waiting', 'QuotaExceeded');
      expect(shown.spec.queue).toBe(`${science.name}/team`);
      await isStalled('more-job', 'QuotaExceeded', 'False');
      const counted = await hasStatus('team', {
        queue: `${science.name}/team`,
        waiting: 1,
        ready: 0,
        running: 1,
        usage: { jobs: '1', pods: '1', cores: '4', nodes: '1' },
        quota: { cores: '4', pods: '10' },
        observedGeneration: 1,
      });
      expect(condition(counted, 'Ready')).toMatchObject({ status: 'True', reason: 'Serving' });
      await update('team', { quota: { cores: '6', pods: null } });
      await science.phase(more, 'Running');
      const grown = await hasStatus('team', {
        waiting: 0,
        running: 2,
        usage: { cores: '6' },
        observedGeneration: 2,
      });
      expect(grown.status?.quota).toEqual({ cores: '6' });
      await science.delete(full, 'Job');
      await science.delete(more, 'Job');
      await hasStatus('team', { running: 0, finished: 2, usage: { cores: '0', jobs: '0', nodes: '0' } });
      const stored = await getFixture().queue.queues();
      expect(stored.find(({ name }) => name === `${science.name}/team`)?.quota).toEqual({ cores: 6 });
    });

    test('the deletion of a FluxSetup blocks waiting workloads, not running ones, until it is created again', async () => {
      await science.fluxSetup('team', { quota: { jobs: 1 } });
      const runs = await science.job('runs', { runs: UNTIL_ENDED });
      await science.phase(runs, 'Running');
      const first = await science.job('first');
      const requests = await science.job('requests', { labels: { 'fluxqueue/queue': 'later' } });
      await science.phase(first, 'Waiting', 'QuotaExceeded');
      const unserved = await science.phase(requests, 'Waiting', 'NoFluxSetup');
      expect(unserved.message).toContain(`${science.name}/later`);
      await isStalled('requests-job', 'NoFluxSetup', 'True');
      await remove('team');
      const held = await science.phase(first, 'Waiting', 'NoFluxSetup');
      expect(held.queue).toBe(`${science.name}/team`);
      const late = await science.job('late', { labels: { 'fluxqueue/queue': 'team' } });
      await science.phase(late, 'Waiting', 'NoFluxSetup');
      expect((await science.row(runs))!.phase).toBe('Running');
      await science.fluxSetup('team');
      for (const job of [first, late])
        expect((await science.phase(job, 'Finished')).result).toBe('Succeeded');
      await science.fluxSetup('later');
      expect((await science.phase(requests, 'Finished')).queue).toBe(`${science.name}/later`);
      expect((await science.row(runs))!.phase).toBe('Running');
    });

    test('a queue borrows unused quota of another queue in its cohort', async () => {
      await science.fluxSetup('small', {
        quota: { cores: 1 },
        cohort: science.name,
        borrowing: { cores: 2 },
      });
      await science.fluxSetup('idle', { quota: { cores: 8 }, cohort: science.name });
      const small = { runs: UNTIL_ENDED, labels: { 'fluxqueue/queue': 'small' } };
      const three = await science.job('three', { ...small, cores: 3 });
      await science.phase(three, 'Running');
      const more = await science.job('more', small);
      await science.phase(more, 'Waiting', 'QuotaExceeded');
      await hasStatus('small', { running: 1, usage: { cores: '3' }, quota: { cores: '1' } });
    });

    const inQueue = (name: string) => ({ cores: 4, runs: UNTIL_ENDED, labels: { 'fluxqueue/queue': name } });

    test('a queue reclaims lent quota by preempting the youngest borrower, which is requeued in its position', async () => {
      await science.fluxSetup('guest', { quota: { cores: 4 }, cohort: science.name });
      await science.fluxSetup('owner', { quota: { cores: 4 }, cohort: science.name, reclaim: true });
      const own = await science.job('own', inQueue('guest'));
      await science.phase(own, 'Running');
      const borrowed = await science.job('borrowed', inQueue('guest'));
      await science.phase(borrowed, 'Running');
      const back = await science.job('back', inQueue('owner'));
      await science.phase(back, 'Running');
      const waits = await science.phase(borrowed, 'Waiting');
      expect(waits).toMatchObject({ requeues: 0, preemptions: 1, queue: `${science.name}/guest` });
      expect((await science.row(own))!).toMatchObject({ phase: 'Running', preemptions: 0 });
      await science.end(back);
      await science.phase(back, 'Finished');
      await science.phase(borrowed, 'Running');
    });

    test('an urgent workload preempts a preemptible one, which runs again when the nodes are free', async () => {
      await science.fluxSetup('calm', { preemption: { minRuntime: '0s' } });
      await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' }, priority: { min: 100 } });
      const kept = await science.job('kept', inQueue('calm'));
      await science.phase(kept, 'Running');
      const preemptible = { annotations: { 'fluxqueue/preemptible': 'true' } };
      const low = await science.job('low', { ...inQueue('calm'), ...preemptible });
      await science.phase(low, 'Running');
      const urgent = await science.job('urgent', { ...inQueue('urgent'), runs: '2s' });
      const ran = await science.phase(urgent, 'Finished');
      expect(ran).toMatchObject({ priority: 100, result: 'Succeeded' });
      expect((await science.row(kept))!).toMatchObject({ phase: 'Running', preemptions: 0 });
      expect(await science.phase(low, 'Running')).toMatchObject({ preemptions: 1, requeues: 0 });
    });

    test('waiting workloads of the default queue move to the first FluxSetup of their namespace', async () => {
      const hog = await science.job('hog', { pods: 2, cores: 4, runs: UNTIL_ENDED });
      await science.phase(hog, 'Running');
      const waits = await science.job('waits', { annotations: { 'fluxqueue/priority': '7' } });
      expect((await science.phase(waits, 'Waiting')).queue).toBe('default');
      await science.fluxSetup('team', { priority: { max: 3 }, walltime: { default: '2m', max: '5m' } });
      const moved = await waitFor('the workload to move', async () => {
        const row = await science.row(waits);
        return row?.queue === 'default' ? undefined : row;
      });
      expect(moved).toMatchObject({ queue: `${science.name}/team`, priority: 3, walltime: 120 });
      await science.delete(hog, 'Job');
      await science.phase(waits, 'Finished');
    });

    test('a Job has the priority of the PriorityClass of its pods', async () => {
      await getFixture().client.create(priorityClasses(), {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'urgent-science' },
        value: 4711,
      });
      const urgent = await science.job('urgent', { podSpec: { priorityClassName: 'urgent-science' } });
      await science.phase(urgent, 'Finished');
      await waitFor('its priority', async () => (await science.row(urgent))!.priority === 4711);
    });

    test('a Job that exceeds its walltime times out, which satisfies or fails the dependencies on it', async () => {
      const prep = await science.job('prep', { runs: UNTIL_ENDED });
      const slow = await science.job('slow', {
        runs: UNTIL_ENDED,
        annotations: { 'fluxqueue/walltime': '2s' },
      });
      const after = (text: string) => ({ annotations: { 'fluxqueue/after': text } });
      const main = await science.job('main', after('prep'));
      const cleanup = await science.job('cleanup', after('afternotok:slow, afterany:prep'));
      const never = await science.job('never', after('afterok:slow'));
      const lonely = await science.job('lonely', after('no-such-job'));
      expect((await science.phase(main, 'Waiting', 'DependencyPending')).message).toContain('prep');
      await science.phase(cleanup, 'Waiting', 'DependencyPending');
      await science.phase(prep, 'Running');
      await science.end(prep);
      const ended = await science.phase(slow, 'Finished');
      expect(ended.result).toBe('TimedOut');
      const { spec } = await getFixture().client.get<Job>(jobs(science.name, 'slow'));
      // Without what a release allows for a late start.
      expect(spec.activeDeadlineSeconds).toBeLessThan(60);
      const shown = await science.shown('slow-job', 'Finished');
      expect(shown.status!.result).toBe('TimedOut');
      const [mainRow, cleanupRow] = [
        await science.phase(main, 'Finished'),
        await science.phase(cleanup, 'Finished'),
      ];
      expect(mainRow.allocatedAt!).toBeGreaterThanOrEqual((await science.row(prep))!.finishedAt!);
      expect(cleanupRow.allocatedAt!).toBeGreaterThanOrEqual(ended.finishedAt!);
      expect((await science.phase(never, 'Waiting', 'DependencyPending')).message).toMatch(
        /^can never start/,
      );
      await isStalled('never-job', 'DependencyPending', 'True');
      await isStalled('lonely-job', 'DependencyPending', 'False');
      await science.delete(never, 'Job');
      await science.delete(lonely, 'Job');
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
