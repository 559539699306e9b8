/** Waiting workloads: their reasons, their order, and changes that users make while they wait. */
import type { Job, Node } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'waiting workloads',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    const walltime = (time: string) => ({ 'fluxqueue/walltime': time });
    /** Has all nodes until it is ended. */
    const full = async (time: string): Promise<Job> => {
      const hog = await science.job('hog', {
        pods: 2,
        cores: 4,
        runs: UNTIL_ENDED,
        annotations: walltime(time),
      });
      await science.phase(hog, 'Running');
      return hog;
    };

    test('the first wide Job is Reserved with an estimated start, a small Job backfills, and others are Busy', async () => {
      const hog = await science.job('hog', { cores: 4, runs: UNTIL_ENDED, annotations: walltime('1h') });
      const { allocation } = await science.phase(hog, 'Running');
      const wide = await science.job('wide', { pods: 2, cores: 4, annotations: walltime('60s') });
      const reserved = await science.phase(wide, 'Waiting', 'Reserved');
      expect(reserved.estimatedStart).toBe(allocation!.end);
      const long = await science.job('long', { cores: 4, runs: UNTIL_ENDED, annotations: walltime('2h') });
      await science.phase(long, 'Waiting', 'Busy');
      // It ends before the start of the reservation.
      const small = await science.job('small', { cores: 4, annotations: walltime('5m') });
      await science.phase(small, 'Finished');
      const shown = await science.shown('wide-job', 'Waiting', 'Reserved');
      expect(shown.status!.start).toBe(`~${shown.status!.estimatedStart}`);
      expect(Date.parse(shown.status!.estimatedStart!) / 1000).toBe(allocation!.end);
      expect(shown.status!.position).toBe(1);
      expect((await science.shown('long-job', 'Waiting', 'Busy')).status!.position).toBe(2);
      expect((await science.row(wide))!.phase).toBe('Waiting');
      await science.delete(hog, 'Job');
      await science.phase(wide, 'Finished');
      await science.phase(long, 'Running');
      const running = await science.shown('long-job', 'Running');
      expect(running.status!.position).toBeUndefined();
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
    });

    test('an unsatisfiable Job records one Event with the cause, and starts when a suitable node is added', async () => {
      const big = await science.job('big', { cores: 8 });
      const row = await science.phase(big, 'Waiting', 'Unsatisfiable');
      expect(row.message).toMatch(/^asks for 1 node with 8 cores.*the cluster has none; the largest has /);
      const shown = await science.shown('big-job', 'Waiting', 'Unsatisfiable');
      expect(shown.status!.conditions).toContainEqual(
        expect.objectContaining({ type: 'Stalled', status: 'True' }),
      );
      const [name] = await getFixture().stack.cluster.addNodes(1, { cpu: '8' });
      const ran = await science.phase(big, 'Finished');
      expect(ran.allocation!.nodes[0]!.name).toBe(name);
      expect((await science.events(big)).filter((event) => event.startsWith('Unsatisfiable'))).toHaveLength(
        1,
      );
      await getFixture().stack.cluster.removeNode(name!);
    });

    test('a Job is held by the hold label or its own suspension until its user releases it', async () => {
      const held = await science.job('held', { labels: { 'fluxqueue/hold': 'true' } });
      const suspended = await science.job('suspended', { spec: { suspend: true } });
      await science.phase(held, 'Waiting', 'Held');
      await science.phase(suspended, 'Waiting', 'Held');
      await science.shown('held-job', 'Waiting', 'Held');
      for (const job of [held, suspended])
        await science.patch(job, 'Job', { metadata: { labels: { 'fluxqueue/hold': null } } });
      await science.phase(held, 'Finished');
      await science.phase(suspended, 'Finished');
      expect((await science.shown('held-job', 'Finished')).status!.result).toBe('Succeeded');
    });

    test('Jobs start in the order of their priorities, which their users can change while they wait', async () => {
      const hog = await full('1h');
      const all = { pods: 2, cores: 4, runs: '200ms', annotations: walltime('60s') };
      const low = await science.job('low', all);
      const high = await science.job('high', {
        ...all,
        annotations: { ...all.annotations, 'fluxqueue/priority': '10' },
      });
      const late = await science.job('late', all);
      await science.phase(low, 'Waiting');
      await science.phase(late, 'Waiting');
      await science.patch(late, 'Job', { metadata: { annotations: { 'fluxqueue/priority': '20' } } });
      await waitFor('the new priority', async () => (await science.row(late))!.priority === 20);
      await science.phase(late, 'Waiting', 'Reserved');
      const positions = async () => {
        const shown = [];
        for (const name of ['late', 'high', 'low'])
          shown.push((await science.fluxJob(`${name}-job`))?.status?.position);
        return shown;
      };
      await waitFor('the positions', async () => JSON.stringify(await positions()) === '[1,2,3]');
      await science.delete(hog, 'Job');
      const [last, second, first] = [
        await science.phase(low, 'Finished'),
        await science.phase(high, 'Finished'),
        await science.phase(late, 'Finished'),
      ];
      expect(first.allocatedAt!).toBeLessThan(second.allocatedAt!);
      expect(second.allocatedAt!).toBeLessThan(last.allocatedAt!);
      expect((await science.fluxJob('late-job'))?.spec.priority).toBe(20);
    });

    test('a Job backfills before a reservation once its user shortens its walltime', async () => {
      const hog = await science.job('hog', { cores: 4, runs: UNTIL_ENDED, annotations: walltime('1h') });
      await science.phase(hog, 'Running');
      const wide = await science.job('wide', { pods: 2, cores: 4, annotations: walltime('60s') });
      await science.phase(wide, 'Waiting', 'Reserved');
      const short = await science.job('short', { cores: 4, annotations: walltime('2h') });
      await science.phase(short, 'Waiting', 'Busy');
      await science.patch(short, 'Job', { metadata: { annotations: walltime('5m') } });
      const ran = await science.phase(short, 'Finished');
      expect(ran.walltime).toBe(300);
      expect((await science.row(wide))!.phase).toBe('Waiting');
    });

    test('a Job behind the first in line has a planned start, which is no promise', async () => {
      await full('1h');
      const all = { pods: 2, cores: 4, annotations: walltime('10m') };
      const first = await science.job('first', all);
      const { estimatedStart } = await science.phase(first, 'Waiting', 'Reserved');
      const second = await science.job('second', all);
      await science.phase(second, 'Waiting', 'Busy');
      const { status } = await waitFor('its planned start', async () => {
        const shown = await science.fluxJob('second-job');
        return shown?.status?.plannedStart !== undefined && shown;
      });
      // The first one ends ten minutes after its start; plans are shown in whole minutes.
      const behind = Date.parse(status!.plannedStart!) / 1000 - (estimatedStart! + 600);
      expect(behind).toBeGreaterThanOrEqual(0);
      expect(behind).toBeLessThan(60);
      expect(status).toMatchObject({ start: `?${status!.plannedStart}`, position: 2 });
      expect(status!.estimatedStart).toBeUndefined();
      expect((await science.row(second))!.estimatedStart).toBeNull();
      expect((await science.fluxJob('first-job'))!.status!.plannedStart).toBeUndefined();
    });

    test('a promise says when it is likely kept, once workloads of its user have ended early', async () => {
      for (const name of ['one', 'two'])
        await science.phase(await science.job(name, { cores: 4, annotations: walltime('10h') }), 'Finished');
      await full('10h');
      const next = await science.job('next', { pods: 2, cores: 4, annotations: walltime('10m') });
      const { estimatedStart } = await science.phase(next, 'Waiting', 'Reserved');
      const isLikely = async () => {
        const shown = await science.fluxJob('next-job');
        return shown?.status?.likelyStart !== undefined && shown.status;
      };
      const { likelyStart } = await waitFor('its likely start', isLikely);
      expect(Date.parse(likelyStart!) / 1000).toBeLessThan(estimatedStart! - 9 * 3600);
    });

    test('a Job gets the node of lower weight', async () => {
      const { client } = getFixture();
      const { items } = await client.list<Node>('/api/v1/nodes');
      const [heavy, light] = items.map(({ metadata }) => metadata.name);
      const weigh = (weight: string | null) =>
        client.patch(
          `/api/v1/nodes/${heavy}`,
          { metadata: { labels: { 'fluxqueue/node-weight': weight } } },
          'merge',
        );
      await weigh('200');
      // The pass that knows the weight may be a moment away: each Job is tried on the nodes as they are known then.
      let tried = 0;
      await waitFor('a Job on the other node', async () => {
        const job = await science.job(`one-${++tried}`, { cores: 1, runs: '100ms' });
        const ran = await science.phase(job, 'Finished');
        return ran.allocation!.nodes[0]!.name === light;
      });
      await weigh(null);
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
