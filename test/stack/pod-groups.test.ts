/** Plain pods of one group on a real control plane: together or not at all, whoever makes them. */
import { DEADLINE_ANNOTATION, GROUP_MEMBER_ANNOTATION } from '../../constructs/api/labels';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { isGated } from '../../runtime/workloads/pod';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { type Namespace, type Shape, UNTIL_ENDED } from './workloads';

describeStack(
  'a group of plain pods',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    const member = (group: string, name: string, size: number, shape: Shape = {}) =>
      science.pod(name, {
        runs: UNTIL_ENDED,
        ...shape,
        labels: { 'fluxqueue/group': group, ...shape.labels },
        annotations: { 'fluxqueue/group-size': `${size}`, 'fluxqueue/walltime': '1h', ...shape.annotations },
        podSpec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, ...shape.podSpec },
      });
    const ofGroup = async (group: string) =>
      (await science.pods()).filter(({ metadata }) => metadata.labels?.['fluxqueue/group'] === group);
    const rowOf = async (group: string): Promise<WorkloadRow | undefined> => {
      const rows = await getFixture().queue.active();
      return rows.find(({ kind, name }) => kind === 'PodGroup' && name === group);
    };
    const until = (group: string, phase: string, reason?: string) =>
      waitFor(`group ${group} to be ${phase} ${reason ?? ''}`, async () => {
        const row = await rowOf(group);
        return row?.phase === phase && (reason === undefined || row.reason === reason) ? row : undefined;
      });
    const saying = (group: string, message: string) =>
      waitFor(`group ${group} to say ${message}`, async () =>
        (await rowOf(group))?.message?.startsWith(message),
      );
    const ended = (group: string) =>
      waitFor(`group ${group} to have no row`, async () => (await rowOf(group)) === undefined);
    const delet = (name: string) =>
      getFixture().client.delete(podPath('science', name), { propagationPolicy: 'Background' });
    const nodesOf = (pods: readonly Pod[]) => pods.map(({ spec }) => spec.nodeName);

    test('waits until it is whole, starts all its pods on granted nodes, and is one record', async () => {
      await member('ring', 'ring-a', 3, { cores: 4 });
      await member('ring', 'ring-b', 3, { cores: 1 });
      await saying('ring', 'waits for pods of its group: 2 of its 3 pods are there');
      expect((await ofGroup('ring')).every(isGated)).toBe(true);
      await member('ring', 'ring-c', 3, { cores: 1 });
      const row = await until('ring', 'Running');
      expect(row).toMatchObject({ pods: 3, walltime: 3600 });
      const pods = await waitFor('all pods to run', async () => {
        const found = await ofGroup('ring');
        return found.every(({ status }) => status?.phase === 'Running') && found;
      });
      const granted = row.allocation!.nodes.map(({ name }) => name);
      expect(granted).toEqual(expect.arrayContaining([...new Set(nodesOf(pods))]));
      for (const { metadata, spec } of pods) {
        expect(metadata.annotations?.[GROUP_MEMBER_ANNOTATION]).toMatch(new RegExp(`^${row.uid}/`));
        expect(spec.activeDeadlineSeconds).toBe(3600 + 3600);
        expect(metadata.annotations?.[DEADLINE_ANNOTATION]).toBe('3600+3600/none');
      }
      const shown = await science.shown('ring-podgroup', 'Running');
      expect(shown.spec.workload).toMatchObject({ kind: 'PodGroup', name: 'ring' });
      const owners = new Set(shown.metadata.ownerReferences?.map(({ kind }) => kind));
      expect([...owners]).toEqual(['Pod']);
      for (const { metadata } of pods) await delet(metadata.name);
      await ended('ring');
      await waitFor('its FluxJob to go', async () => (await science.fluxJob('ring-podgroup')) === undefined);
    });

    test('never holds a part of what another one needs: of two that do not fit together one waits whole', async () => {
      for (const i of [0, 1, 2, 3]) {
        await member('left', `left-${i}`, 4, { cores: 4 });
        await member('right', `right-${i}`, 4, { cores: 4 });
      }
      const [first, second] = await waitFor('one of them to run and the other to wait', async () => {
        const rows = await Promise.all(['left', 'right'].map(rowOf));
        const running = rows.find((row) => row?.phase === 'Running');
        // What is first in line has a reservation.
        const waiting = rows.find((row) => row?.phase === 'Waiting' && row.reason === 'Reserved');
        return running !== undefined && waiting !== undefined && ([running, waiting] as const);
      });
      expect((await ofGroup(second.name)).every(isGated)).toBe(true);
      expect(second.allocation).toBeNull();
      for (const { metadata } of await ofGroup(first.name)) await delet(metadata.name);
      const other = await until(second.name, 'Running');
      expect(other.allocation?.nodes.length).toBeGreaterThan(0);
      for (const { metadata } of await ofGroup(second.name)) await delet(metadata.name);
      await ended(second.name);
    });

    test('gives the place of a deleted pod to its replacement', async () => {
      const { stack } = getFixture();
      const template = {
        metadata: {
          labels: { app: 'mesh', 'fluxqueue/group': 'mesh' },
          annotations: {
            'fluxqueue/group-size': '2',
            'fluxqueue/walltime': '1h',
            'fluxqueue.test/duration': UNTIL_ENDED,
          },
        },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
        },
      };
      await stack.cluster.create({
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'mesh', namespace: 'science' },
        spec: { replicas: 2, selector: { matchLabels: { app: 'mesh' } }, template },
      });
      const row = await until('mesh', 'Running');
      const [lost] = await ofGroup('mesh');
      await delet(lost!.metadata.name);
      const replaced = await waitFor('the replacement to run', async () => {
        const found = await ofGroup('mesh');
        const all = found.length === 2 && found.every(({ status }) => status?.phase === 'Running');
        return all && found.some(({ metadata }) => metadata.uid !== lost!.metadata.uid) && found;
      });
      expect(await rowOf('mesh')).toMatchObject({ uid: row.uid, jobid: row.jobid, phase: 'Running' });
      const granted = row.allocation!.nodes.map(({ name }) => name);
      expect(granted).toEqual(expect.arrayContaining([...new Set(nodesOf(replaced))]));
      await getFixture().client.delete('/apis/apps/v1/namespaces/science/replicasets/mesh', {
        propagationPolicy: 'Background',
      });
      await ended('mesh');
    });

    test('succeeds with its last pod, and its name is free for the next group', async () => {
      for (const name of ['once-a', 'once-b']) await member('once', name, 2, { runs: '300ms' });
      const done = await science.shown('once-podgroup', 'Finished');
      expect(done.status?.result).toBe('Succeeded');
      await ended('once');
      await member('once', 'once-c', 2);
      await until('once', 'Waiting', 'GroupIncomplete');
      await delet('once-c');
      await ended('once');
    });

    test('leaves out a pod that differs, and tells it so', async () => {
      await member('odd', 'odd-a', 2);
      await member('odd', 'odd-b', 2, { annotations: { 'fluxqueue/walltime': '2h' } });
      await saying(
        'odd',
        'waits for pods of its group: 1 of its 2 pods is there; pod odd-b is left out of the group',
      );
      await waitFor('the Event', async () => {
        const { items } = await getFixture().client.list<{ reason?: string; metadata: never }>(
          '/apis/events.k8s.io/v1/namespaces/science/events',
          { fieldSelector: 'regarding.name=odd-b' },
        );
        return items.some(({ reason }) => reason === 'NotInGroup');
      });
      await member('odd', 'odd-c', 2);
      await until('odd', 'Running');
      expect((await ofGroup('odd')).filter(isGated).map(({ metadata }) => metadata.name)).toEqual(['odd-b']);
      for (const { metadata } of await ofGroup('odd')) await delet(metadata.name);
      await ended('odd');
    });
  },
  { nodes: 3, nodeShape: { cpu: '8' } },
);
