/** A namespace that leaves the queue: its label is removed while workloads of it wait, are held and run. */
import { ADMITTED_LABEL, HOLD, NAMESPACE_LABEL } from '../../constructs/api/labels';
import { jobs, namespaces, pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { ADA, giveRole } from './users';
import { Namespace, UNTIL_ENDED } from './workloads';

const ADMITTED = `${ADMITTED_LABEL}=true`;

describeStack(
  'a namespace that leaves the queue',
  (getFixture) => {
    let science: Namespace;
    let running: Job;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    beforeAll(async () => {
      await giveRole(getFixture().stack.cluster, ADA, 'edit', 'science');
      // What waits would start at once without the queue: only its quota keeps it.
      await science.fluxSetup('one', { quota: { jobs: 1 } });
      running = await science.job('running', { runs: UNTIL_ENDED, spec: { backoffLimit: 5 } });
      await science.phase(running, 'Running');
    });

    const relabel = (value: string | null) =>
      getFixture().client.patch(
        namespaces('science'),
        { metadata: { labels: { [NAMESPACE_LABEL]: value } } },
        'merge',
      );
    const job = (name: string) => getFixture().client.get<Job>(jobs('science', name));
    const runs = (name: string) =>
      waitFor(`pods of ${name} to run`, async () => {
        const all = await science.podsOf(await job(name));
        return all.filter(({ status }) => status?.phase === 'Running')[0];
      });
    const fluxqueue = async (...args: readonly string[]): Promise<string> => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      return (await stack.roles.once([...args, '-n', 'science'], { KUBECONFIG })).trim();
    };
    /** Everything that happened before is reconciled: the queue has seen a workload that came later through. */
    const settled = async () => {
      const other = await Namespace.create(getFixture, `other-${Math.random().toString(36).slice(2, 8)}`);
      await other.phase(await other.job('later'), 'Finished');
    };

    test('what waits is handed back to Kubernetes and runs as it would without the queue', async () => {
      const waiting = await science.job('waiting', {
        pods: 2,
        runs: UNTIL_ENDED,
        spec: { activeDeadlineSeconds: 864_000 },
      });
      const gated = await science.pod('gated', { runs: UNTIL_ENDED });
      const held = await science.job('held', { annotations: { [HOLD]: 'true' } });
      const paused = await science.job('paused', { runs: UNTIL_ENDED, spec: { suspend: true } });
      for (const each of [waiting, gated]) await science.phase(each, 'Waiting', 'QuotaExceeded');
      for (const each of [held, paused]) await science.phase(each, 'Waiting', 'Held');
      await relabel(null);

      expect((await runs('waiting')).spec.affinity?.nodeAffinity).toBeUndefined();
      await waitFor('the pod to run', async () => {
        const { status } = await getFixture().client.get<Pod>(pods('science', 'gated'));
        return status?.phase === 'Running';
      });
      expect((await job('waiting')).spec.activeDeadlineSeconds).toBe(864_000);
      for (const each of [waiting, gated])
        expect(await science.phase(each, 'Finished')).toMatchObject({
          result: 'Cancelled',
          message: 'its namespace left the queue, so Kubernetes runs it without the queue',
        });
      const { items } = await getFixture().client.list<Job>(jobs('science'), { labelSelector: ADMITTED });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['held', 'paused', 'running']);
      // What its user holds is not started, and stays what it is.
      expect((await job('held')).spec.suspend).toBe(true);
      expect((await job('paused')).spec.suspend).toBe(true);
    });

    test('what runs goes on, also with pods that Kubernetes creates since then', async () => {
      const first = await runs('running');
      await getFixture().client.delete(pods('science', first.metadata.name));
      const second = await waitFor('another pod', async () => {
        const pod = await runs('running');
        return pod.metadata.uid !== first.metadata.uid && pod;
      });
      await settled();
      expect((await runs('running')).metadata.uid).toBe(second.metadata.uid);
      expect(await science.row(running)).toMatchObject({ phase: 'Running', requeues: 0 });
      await science.end(running);
      expect(await science.phase(running, 'Finished')).toMatchObject({ result: 'Succeeded' });
    });

    test('a running Job that its user suspends is not started again', async () => {
      const mine = await job('waiting');
      await getFixture().client.patch(jobs('science', 'waiting'), { spec: { suspend: true } }, 'merge');
      await waitFor('its pods to end', async () => (await science.podsOf(mine)).length === 0);
      await settled();
      expect((await job('waiting')).spec.suspend).toBe(true);
    });

    test('what its user held runs once the user releases it', async () => {
      expect(await fluxqueue('release', 'held')).toMatch(
        /^job\/held released; its namespace has not the label .* Kubernetes runs it without the queue$/,
      );
      await waitFor('it to end', async () => (await job('held')).status?.succeeded === 1);
      await science.patch(await job('paused'), 'Job', { metadata: { labels: { [HOLD]: null } } });
      await runs('paused');
    });

    test('what was handed back and its user suspended is resumed by hand, or by the command', async () => {
      expect(await fluxqueue('release', 'waiting')).toBe('job/waiting resumed; it is not in the queue');
      await runs('waiting');
      expect(await fluxqueue('release', 'waiting')).toBe('job/waiting is not in the queue');
    });

    test('a namespace that comes back queues what is new, and leaves alone what it handed back', async () => {
      await relabel('true');
      const late = await waitFor('admission', async () => {
        const made = await science.job(`late-${Math.random().toString(36).slice(2, 8)}`);
        return made.spec.suspend === true && made;
      });
      expect(await science.phase(late, 'Finished')).toMatchObject({ result: 'Succeeded' });
      expect((await job('paused')).metadata.labels?.[ADMITTED_LABEL]).toBeUndefined();
      await runs('paused');
    });
  },
  { nodes: 2, nodeShape: { cpu: '16', memory: '64Gi' } },
);
