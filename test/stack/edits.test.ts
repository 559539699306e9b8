/** A Job that is held, started and stopped by edits in Git, while an engine applies its manifest again and again. */
import { HOLD, PRIORITY } from '../../constructs/api/labels';
import { fluxJobName } from '../../runtime/fluxjobs/status';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

const WAYS = [
  ['client-side apply', []],
  ['server-side apply', ['--server-side', '--force-conflicts', '--field-manager=kustomize-controller']],
] as const;

describeStack(
  'the life of a Job in Git',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    describe.each(WAYS)('by %s', (way, args) => {
      const prefix = way.split('-')[0];

      async function apply(name: string, spec: object, annotations: object = {}): Promise<Job> {
        expect(await applyWithWarnings(name, spec, annotations)).toBe('');
        return getFixture().client.get<Job>(jobs(science.name, `${prefix}-${name}`));
      }

      /** What kubectl prints on stderr. */
      async function applyWithWarnings(name: string, spec: object, annotations: object): Promise<string> {
        const template = {
          metadata: { annotations: { 'fluxqueue.test/duration': '1h' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] },
        };
        const metadata = { name: `${prefix}-${name}`, namespace: science.name, annotations };
        const stdin = JSON.stringify({
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata,
          spec: { ...spec, template },
        });
        const { code, stderr } = await getFixture().stack.cluster.kubectl(['apply', ...args, '-f', '-'], {
          stdin,
        });
        expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
        return stderr;
      }

      /** The pod that runs, and the grant under which it runs. */
      async function run(job: Job): Promise<{ readonly uid: string; readonly jobid: number }> {
        const { jobid } = await science.phase(job, 'Running');
        const uid = await waitFor('its pod', async () => {
          const pods = await science.podsOf(job);
          return pods.length === 1 && pods[0]!.status?.phase === 'Running' && pods[0]!.metadata.uid;
        });
        return { uid, jobid };
      }

      test('is held by suspend: true, starts when that is removed, and stops when it is added', async () => {
        const job = await apply('held', { suspend: true });
        await science.phase(job, 'Waiting', 'Held');
        const again = await apply('held', { suspend: true });
        expect(again.metadata).toMatchObject({ uid: job.metadata.uid, generation: job.metadata.generation });
        expect((await science.row(job))?.reason).toBe('Held');

        await apply('held', {});
        const first = await run(job);
        const running = await getFixture().client.get<Job>(jobs(science.name, job.metadata.name));
        for (let n = 0; n < 3; n++)
          expect((await apply('held', {})).metadata.generation).toBe(running.metadata.generation);
        expect(await run(job)).toEqual(first);

        await apply('held', { suspend: true });
        await science.phase(job, 'Waiting', 'Held');
        await apply('held', { suspend: true });
        await apply('held', {});
        await waitFor('another grant', async () => {
          const row = await science.row(job);
          return row?.phase === 'Running' && row.jobid !== first.jobid;
        });
        await science.delete(job, 'Job');
        await science.phase(job, 'Finished');
      });

      test('says while it runs which change has no effect, until Git takes it back', async () => {
        const job = await apply('grown', {}, { note: 'x' });
        const first = await run(job);
        const conditionsOf = async () => {
          const path = fluxJobs(science.name, fluxJobName('Job', job.metadata.name));
          const { status } = await getFixture().client.get<FluxJobObject>(path);
          return status?.conditions?.filter(({ type }) => type === 'ChangeIgnored') ?? [];
        };
        await waitFor('its FluxJob', async () => (await conditionsOf()).length === 0);
        const wishes = { [PRIORITY]: '-5', [HOLD]: 'true' };
        const warnings = await applyWithWarnings('grown', { parallelism: 2 }, wishes);
        for (const what of ['spec.parallelism', PRIORITY, HOLD])
          expect(warnings).toContain(`FLUXQ_RELEASED: ${what}: `);
        const shown = await waitFor('the condition', async () => (await conditionsOf())[0]);
        expect(shown).toMatchObject({ status: 'True', reason: 'AlreadyStarted' });
        expect(shown.message).toContain('spec.parallelism cannot be increased');
        expect(shown.message).toContain(
          `${PRIORITY} -5 has no effect on a Job that the queue started with 0`,
        );
        expect(shown.message).toContain(`${HOLD} has no effect`);
        await applyWithWarnings('grown', {}, { note: 'x' });
        await waitFor('the condition to go', async () => (await conditionsOf()).length === 0);
        expect(await run(job)).toEqual(first);
        await science.delete(job, 'Job');
        await science.phase(job, 'Finished');
      });

      test('runs on with suspend: true if it is never held', async () => {
        const job = await apply('never-held', { suspend: true }, { [HOLD]: 'false' });
        const first = await run(job);
        const running = await getFixture().client.get<Job>(jobs(science.name, job.metadata.name));
        for (let n = 0; n < 3; n++) {
          const { metadata, spec } = await apply('never-held', { suspend: true }, { [HOLD]: 'false' });
          expect([spec.suspend, metadata.generation]).toEqual([false, running.metadata.generation]);
        }
        expect(await run(job)).toEqual(first);
        expect((await science.row(job))?.requeues).toBe(0);
        await science.delete(job, 'Job');
        await science.phase(job, 'Finished');
      });

      test('is queued when its hold is removed with all annotations', async () => {
        const job = await apply('annotated', { suspend: false }, { [HOLD]: 'true' });
        await science.phase(job, 'Waiting', 'Held');
        const released = await apply('annotated', { suspend: false });
        expect(released.metadata.annotations).not.toHaveProperty([HOLD]);
        await run(job);
        await science.delete(job, 'Job');
        await science.phase(job, 'Finished');
      });
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
