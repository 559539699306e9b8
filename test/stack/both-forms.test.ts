// Own cluster: the form of admission changes.
/**
 * A live stack changes from admission by policies to the webhook and back, with both forms in between. No Job is refused, and
 * none gets past the queue.
 */
import { GATE, STACK_NAMESPACE, WEBHOOK_SERVICE_ACCOUNT } from '../../constructs/api/labels';
import type { AdmissionChoice } from '../../constructs/fluxqueue/admission/form';
import { SECTIONS } from '../../constructs/fluxqueue/dashboard';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { freePorts } from '../cluster/ports';
import { stackObjects } from '../constructs/manifests';
import { checkAnswers, PROMTOOL, seriesOf } from '../monitoring/promtool';
import type { RoleProcess } from './roles';
import { describeOwnStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

const PANELS = SECTIONS.flatMap(({ panels }) => panels);
/** As large as the cluster. */
const WIDE = { pods: 2, cores: 4 };
const ADMITTED = /^fluxqueue_admission_seconds_count\{kind="Job",outcome="\w+"\} [1-9]/m;
const PROBE = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'probe' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } } },
};

describeOwnStack(
  'a change of the form of admission',
  (getFixture) => {
    let science: Namespace;
    let port: number;
    let forms: Readonly<Record<AdmissionChoice, readonly KubeObject[]>>;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    beforeAll(async () => {
      [port = 0] = await freePorts(1);
      const externalRuntime = { webhookUrl: `https://127.0.0.1:${port}` };
      const stack = (admission: AdmissionChoice) =>
        stackObjects({ kubernetesVersion: '1.37.1', admission, externalRuntime });
      forms = { policies: stack('policies'), both: stack('both'), webhook: stack('webhook') };
    });

    /** What an engine of GitOps does when Git has another form. */
    async function change(from: AdmissionChoice, to: AdmissionChoice): Promise<void> {
      const { cluster } = getFixture().stack;
      await cluster.apply([...forms[to]]);
      const kept = new Set(forms[to].map(nameOf));
      for (const object of forms[from].filter((each) => !kept.has(nameOf(each))))
        await cluster.request('DELETE', `${await cluster.api.collection(object)}/${object.metadata.name}`);
    }

    async function startWebhook(): Promise<RoleProcess> {
      const { stack } = getFixture();
      const account = stack.cluster.kubeconfigForServiceAccount(WEBHOOK_SERVICE_ACCOUNT, STACK_NAMESPACE);
      const webhook = { host: '127.0.0.1', port, drainSeconds: 1 };
      return stack.roles.start('webhook', { kubernetes: { kubeconfig: await account }, webhook });
    }

    /** The dashboard shows what this webhook answers. */
    async function checkPanel(webhook: RoleProcess): Promise<void> {
      const before = await webhook.metrics();
      const { api } = getFixture().stack.cluster;
      await api.send('POST', `${jobs('science')}?dryRun=All`, PROBE);
      const { queries } = PANELS.find(({ title }) => title === 'Admission')!;
      const program = PROMTOOL.built;
      if (program === undefined)
        process.stderr.write('skipped: the panel of admission (test/monitoring/alerts builds promtool)\n');
      else checkAnswers(program, seriesOf('webhook', before, await webhook.metrics()), queries);
    }

    /** A Job that waits, also after its manifest was applied again. */
    async function submit(name: string): Promise<Job> {
      const job = await science.job(name, WIDE);
      expect(job.spec.suspend).toBe(true);
      await science.phase(job, 'Waiting');
      await applyAgain(name);
      return job;
    }

    async function applyAgain(name: string): Promise<void> {
      const { client, stack } = getFixture();
      const path = `${jobs('science')}/${name}`;
      const before = await client.get<Job>(path);
      const manifest = { ...PROBE, metadata: { name, namespace: 'science' }, spec: { parallelism: 2 } };
      const args = ['apply', '--server-side', '--field-manager=git', '-f', '-'];
      const { code, stderr } = await stack.cluster.kubectl(args, { stdin: JSON.stringify(manifest) });
      expect([stderr, code]).toEqual(['', 0]);
      const after = await client.get<Job>(path);
      expect(after.metadata.annotations).toEqual(before.metadata.annotations);
      expect(after.spec).toEqual(before.spec);
    }

    test('what waits is released once and in order, and nothing runs before its turn', async () => {
      const { cluster } = getFixture().stack;
      const first = await science.job('first', { ...WIDE, runs: '600s' });
      await science.phase(first, 'Running');
      const waiting = [await submit('by-policies')];

      await change('policies', 'both');
      const webhook = await startWebhook();
      await cluster.waitFor('the webhook', async () => {
        const { status } = await cluster.api.send('POST', `${jobs('science')}?dryRun=All`, PROBE);
        return status === 201 && ADMITTED.test(await webhook.metrics());
      });
      waiting.push(await submit('by-both'));
      const pod = await science.pod('gated', { cores: 4 });
      expect(pod.spec.schedulingGates).toEqual([{ name: GATE }]);
      await applyAgain('by-policies');
      await checkPanel(webhook);

      await change('both', 'webhook');
      waiting.push(await submit('by-webhook'));
      await applyAgain('by-both');

      await change('webhook', 'both');
      await applyAgain('by-webhook');
      await change('both', 'policies');
      await webhook.stop();
      // Here the second commit does not come minutes later, and the apiserver reads policies every second.
      await cluster.waitFor('the policies', async () => {
        const { spec } = await cluster.request<Job>('POST', `${jobs('science')}?dryRun=All`, PROBE);
        return spec.suspend === true;
      });
      waiting.push(await submit('by-policies-again'));
      await applyAgain('by-webhook');

      await cluster.request('DELETE', `${jobs('science')}/first?propagationPolicy=Background`);
      const rows = [];
      for (const workload of [...waiting, pod]) rows.push(await science.phase(workload, 'Finished'));
      for (const row of rows) expect(row).toMatchObject({ result: 'Succeeded', requeues: 0 });
      const starts = rows.slice(0, waiting.length).map(({ releasedAt }) => releasedAt!);
      expect(starts).toEqual([...starts].sort((one, other) => one - other));
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0, lost: 0 });
    });
  },
  {
    createsMiniClusters: false,
    cluster: { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
    props: { admission: 'policies' },
  },
);

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
