/** Nodes that are added, removed, cordoned, resized, or used by pods outside the queue. */
import { GANG_SIZE } from '../../constructs/api/labels';
import type { Node } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'changes of nodes',
  (getFixture) => {
    let science: Namespace;

    inOneNamespace(
      getFixture,
      (namespace) => {
        science = namespace;
      },
      'sidecar',
    );

    /** In the order of their names. */
    const nodeNames = async () => {
      const { items } = await getFixture().client.list<Node>('/api/v1/nodes');
      return items.map(({ metadata }) => metadata.name);
    };
    const patchNode = (name: string, body: object, subresource = '') =>
      getFixture().client.patch(`/api/v1/nodes/${name}${subresource}`, body, 'merge');

    const untilReadyIs = (name: string, ready: boolean) =>
      waitFor(`the Ready condition of ${name}`, async () => {
        const { status, spec } = await getFixture().client.get<Node>(`/api/v1/nodes/${name}`);
        const condition = status?.conditions?.find(({ type }) => type === 'Ready');
        return (condition?.status === 'True') === ready && (!ready || (spec.taints ?? []).length === 0);
      });

    test('requeues a gang whose node is lost, in its queue position, and runs it on other nodes', async () => {
      const gang = await science.job('gang', {
        pods: 3,
        cores: 4,
        runs: UNTIL_ENDED,
        annotations: { [GANG_SIZE]: '3' },
        spec: { backoffLimit: 10 },
      });
      const before = await science.phase(gang, 'Running');
      const annotations = { [GANG_SIZE]: '3' };
      const next = await science.job('next', { pods: 3, cores: 4, runs: '100ms', annotations });
      await science.phase(next, 'Waiting');
      const lost = before.allocation!.nodes[1]!.name;
      await getFixture().stack.cluster.removeNode(lost);
      const requeued = await science.phase(gang, 'Waiting');
      expect(requeued).toMatchObject({ requeues: 1, submittedAt: before.submittedAt, allocation: null });
      // Neither Job fits on the two nodes that are left.
      const shown = await waitFor('the FluxJob to be requeued', async () => {
        const found = await science.fluxJob('gang-job');
        return found?.status?.phase === 'Waiting' && found.status.requeues === 1 && found;
      });
      expect(shown.status!.nodes).toBeUndefined();
      const [added] = await getFixture().stack.cluster.addNodes(1);
      const after = await science.phase(gang, 'Running');
      expect(after.jobid).not.toBe(before.jobid);
      const nodes = after.allocation!.nodes.map(({ name }) => name);
      expect(nodes).toContain(added);
      expect(nodes).not.toContain(lost);
      await waitFor('its pods on their nodes', async () => {
        const alive = (await science.podsOf(gang)).filter(({ status }) => status?.phase === 'Running');
        return (
          alive
            .map(({ spec }) => spec.nodeName)
            .sort()
            .join() === [...nodes].sort().join()
        );
      });
      const events = await science.recordedEvents(gang, 1);
      expect(events).toContainEqual(expect.stringContaining(`Requeued: node ${lost} was lost; requeued`));
      await science.delete(gang, 'Job');
      await science.phase(gang, 'Finished');
      await science.phase(next, 'Finished');
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0, lost: 0 });
    });

    test('frees the nodes of a running Job that its user suspends, and releases it when its user resumes it', async () => {
      const job = await science.job('paused', { pods: 3, cores: 4, runs: UNTIL_ENDED });
      const before = await science.phase(job, 'Running');
      await science.patch(job, 'Job', { spec: { suspend: true } });
      await science.phase(job, 'Waiting', 'Held');
      await science.patch(job, 'Job', { spec: { suspend: false } });
      const after = await waitFor('it to run again', async () => {
        const row = await science.row(job);
        return row?.phase === 'Running' && row.jobid !== before.jobid && row;
      });
      // A suspension by the user does not count as a failure.
      expect(after.requeues).toBe(0);
      await science.delete(job, 'Job');
      await science.phase(job, 'Finished');
    });

    test('starts nothing on a cordoned node or on a node that is not ready', async () => {
      const [cordoned, lost, left] = await nodeNames();
      await patchNode(cordoned!, { spec: { unschedulable: true } });
      await patchNode(lost!, { metadata: { annotations: { 'fluxqueue.test/not-ready': 'true' } } });
      await untilReadyIs(lost!, false);
      const wide = await science.job('wide', { pods: 2, cores: 4, runs: '100ms' });
      const row = await science.phase(wide, 'Waiting', 'Busy');
      expect(row.message).toMatch(/down|cordoned/);
      const one = await science.job('one', { cores: 4, runs: '100ms' });
      expect((await science.phase(one, 'Finished')).allocation!.nodes[0]!.name).toBe(left);
      await patchNode(cordoned!, { spec: { unschedulable: null } });
      await science.phase(wide, 'Finished');
      await patchNode(lost!, { metadata: { annotations: { 'fluxqueue.test/not-ready': null } } });
      await untilReadyIs(lost!, true);
      const all = await science.job('all', { pods: 3, cores: 4, runs: '100ms' });
      await science.phase(all, 'Finished');
    });

    test('keeps to a taint that a node gets, and writes nothing again of what waits', async () => {
      const names = await nodeNames();
      const hog = await science.job('hog', { pods: 3, cores: 4, runs: UNTIL_ENDED });
      await science.phase(hog, 'Running');
      const annotations = { [GANG_SIZE]: '3' };
      const wide = await science.job('wide-again', { pods: 3, cores: 4, runs: '100ms', annotations });
      const one = await science.job('one-again', { cores: 4, runs: '100ms' });
      await science.phase(one, 'Waiting', 'Busy');
      const before = await science.row(wide);
      const taints = [{ key: 'example.com/autoscaler', value: '1790000000', effect: 'NoSchedule' }];
      await patchNode(names[0]!, { spec: { taints } });
      await patchNode(names[2]!, { spec: { taints } });
      const untolerated = await waitFor('both taints to be told', async () => {
        const row = await science.row(wide);
        return row?.message?.includes('2 have taint example.com/autoscaler=1790000000:NoSchedule') && row;
      });
      expect(untolerated).toMatchObject({ shape: before!.shape, jobspec: before!.jobspec });
      await science.delete(hog, 'Job');
      expect((await science.phase(one, 'Finished')).allocation!.nodes[0]!.name).toBe(names[1]);
      for (const name of [names[0]!, names[2]!]) await patchNode(name, { spec: { taints: null } });
      await science.phase(wide, 'Finished');
    });

    test('does not use the units of unmanaged pods until these pods are deleted', async () => {
      const { stack, client } = getFixture();
      await stack.namespace('others', false);
      const names = await nodeNames();
      for (const [i, nodeName] of names.entries())
        await stack.cluster.create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: `other-${i}`, namespace: 'others' },
          spec: {
            nodeName,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '2' } } }],
          },
        });
      const small = await science.job('small', { pods: 3, cores: 2, runs: UNTIL_ENDED });
      await science.phase(small, 'Running');
      const full = await science.job('full', { cores: 4, runs: '100ms' });
      await waitFor('a scheduling pass', async () => (await science.row(full))!.reason !== 'Submitted');
      await science.delete(small, 'Job');
      await science.phase(small, 'Finished');
      expect((await science.row(full))!.phase).toBe('Waiting');
      await client.delete('/api/v1/namespaces/others/pods/other-1');
      expect((await science.phase(full, 'Finished')).allocation!.nodes[0]!.name).toBe(names[1]);
      for (const i of [0, 2]) await client.delete(`/api/v1/namespaces/others/pods/other-${i}`);
    });

    test('uses the new units of a resized node', async () => {
      const larger = await science.job('larger', { cores: 6, runs: '100ms' });
      await science.phase(larger, 'Waiting', 'Unsatisfiable');
      const [name] = await nodeNames();
      await patchNode(name!, { status: { allocatable: { cpu: '6' }, capacity: { cpu: '6' } } }, '/status');
      expect((await science.phase(larger, 'Finished')).allocation!.nodes[0]!.name).toBe(name);
    });

    test('does not grant the nodes of a Job that exceeds its walltime', async () => {
      const late = await science.job('late', {
        pods: 3,
        cores: 4,
        runs: '6s',
        annotations: { 'fluxqueue/walltime': '1s' },
      });
      await waitFor('it to run, or to have run', async () => (await science.row(late))?.startedAt);
      const next = await science.job('after-late', { pods: 3, cores: 4, runs: '100ms' });
      await science.phase(next, 'Finished');
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
    });
  },
  { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' } },
);
