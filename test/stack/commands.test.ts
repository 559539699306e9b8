/** The commands that users run with their own rights: a user with `edit` in one namespace. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../runtime/errors';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { UNREACHABLE_KUBECONFIG } from '../unreachable';
import { describeStack, inOneNamespace } from './suite';
import { ADA, giveRole } from './users';
import { type Namespace, UNTIL_ENDED } from './workloads';

const run = promisify(execFile);
describeStack(
  'commands of users',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    beforeAll(() => giveRole(getFixture().stack.cluster, ADA, 'edit', 'science'));

    const fluxqueue = async (...args: readonly string[]): Promise<string> => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      return (await stack.roles.once([...args, '-n', 'science'], { KUBECONFIG })).trim();
    };

    /** A command of ada that goes on. */
    const watching = (...args: readonly string[]) => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      return stack.roles.command([...args, '--watch', '-n', 'science'], { KUBECONFIG });
    };

    /** A Job as ada makes it. */
    const job = (name: string, cores: number, runs: string, labels = {}, spec = {}) =>
      science.job(name, { cores, runs, labels, spec });

    test('what waits is shown, explained, held, released, preferred and cancelled', async () => {
      const full = await job('full', 4, UNTIL_ENDED);
      await science.phase(full, 'Running');
      const first = await job('first', 4, '300ms');
      const second = await job('second', 3, '300ms');
      await science.phase(second, 'Waiting');
      const shown = await waitFor('both to be shown', async () => {
        const text = await fluxqueue('queue');
        return /job\/full +Running(.|\n)*1 +job\/first(.|\n)*2 +job\/second/.test(text) ? text : undefined;
      });
      expect(shown).toMatch(/^QUEUE +POS +WORKLOAD +PHASE +NODES +START +AGE +REASON\n/);
      expect(shown).toMatch(/job\/full +Running +\S+ +\d\d:\d\d:\d\dZ/);
      expect(await fluxqueue('queue', '-o', 'name')).toBe('job/full\njob/first\njob/second');
      const { items } = JSON.parse(await fluxqueue('queue', '-o', 'json', '--queue', 'default')) as {
        items: unknown[];
      };
      expect(items).toHaveLength(3);
      expect(JSON.stringify(items)).not.toContain('managedFields');
      await waitFor('a pass to judge second', async () =>
        /^science\/job\/second waits in queue default, position 2\n\w+: .*\n.*start.*\njust ahead of it: job\/first/.test(
          await fluxqueue('why', 'second'),
        ),
      );
      expect(await fluxqueue('when', 'job/full')).toMatch(/^it started at 2\d{3}-/);

      expect(await fluxqueue('hold', 'first')).toBe('job/first held');
      await science.phase(first, 'Waiting', 'Held');
      expect(await fluxqueue('release', 'first')).toBe(
        `job/first released; kubectl fluxqueue why first -n ${science.name} says what it waits for`,
      );
      await waitFor('first to be queued', async () => (await science.row(first))?.reason !== 'Held');
      expect(await fluxqueue('priority', 'first', '-5')).toBe('job/first asks for priority -5');
      await waitFor('second to be ahead', async () =>
        (await fluxqueue('why', 'second')).includes('position 1'),
      );
      expect(await fluxqueue('cancel', 'full')).toBe('job/full cancelled');
      await science.phase(second, 'Finished');
      await science.phase(first, 'Finished');
      await waitFor('its record to be final', async () =>
        /^science\/job\/first has ended: Succeeded/.test(await fluxqueue('why', 'first')),
      );
    });

    test('a Job with suspend: true in its manifest is released, too', async () => {
      const held = await job('suspended', 1, '300ms', {}, { suspend: true });
      await science.phase(held, 'Waiting', 'Held');
      expect(await fluxqueue('release', 'job/suspended')).toMatch(
        /^job\/suspended released; kubectl fluxqueue why suspended /,
      );
      await science.phase(held, 'Finished');
    });

    test('watches tell in a pipe what changes', async () => {
      const queue = await watching('queue', '-o', 'wide', '-l', 'app=watched');
      const names = await watching('queue', '-o', 'name');
      await queue.says('nothing with these labels runs or waits in namespace science');
      const full = await job('watched', 4, UNTIL_ENDED, { app: 'watched' });
      await queue.says('job/watched  Running');
      const next = await job('watched-next', 4, '300ms');
      await science.shown('watched-next-job', 'Waiting');
      const when = await watching('when', 'watched-next');
      const why = await watching('why', 'watched-next');
      await when.says('it starts at');
      await why.says('science/job/watched-next waits in queue default, position 1');
      await science.delete(full, 'Job');
      await queue.says('job/watched  Deleted');
      expect(await when.ended()).toMatch(/^exit code 0\n(.|\n)*it started at 2\d{3}-/);
      expect(await why.ended()).toMatch(/^exit code 0\n(.|\n)*has ended: Succeeded/);
      await names.says('job/watched-next');
      // As kubectl ends, so that a script knows that it was not the end of a Job.
      await queue.end('SIGINT', 'exit code 130');
      await names.end('SIGTERM', 'exit code 143');
      await science.phase(next, 'Finished');
    });

    test('what runs is shown with its user, by labels and names, and summed up', async () => {
      const wide = await job('labelled', 3, UNTIL_ENDED, { app: 'labelled' });
      await science.shown('labelled-job', 'Running');
      const [head, row, ...more] = (await fluxqueue('queue', '-o', 'wide', '-l', 'app=labelled')).split('\n');
      expect(head).toMatch(/REASON +USER +PRIORITY +PODS +WALLTIME +LEFT$/);
      expect(row).toMatch(/^default +job\/labelled +Running .* admin +0 +1 +60m +\d+[ms]$/);
      expect(more).toEqual([]);
      expect(await fluxqueue('queue', 'job/labelled', '-o', 'name')).toBe('job/labelled');
      await expect(fluxqueue('queue', 'labeled')).rejects.toThrow(/FLUXQ_WORKLOAD_UNKNOWN/);
      await expect(fluxqueue('queue', '-l', 'app=(')).rejects.toThrow(/unable to parse/);
      expect(await fluxqueue('top')).toMatch(
        /^QUEUE +USER +RUNNING +NODES +PODS +CPU +WAITING.*\ndefault +admin +1 +1 +1 +3 +0 +0 +0$/,
      );
      await science.delete(wide, 'Job');
      await science.phase(wide, 'Finished');
    });

    test('every example is taken from a user with edit', async () => {
      const { cluster } = getFixture().stack;
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfigForUser(ADA) };
      const folder = join(__dirname, '..', '..', 'examples', 'jobs');
      const files = readdirSync(folder).filter((file) => file !== 'namespace.yaml');
      for (const file of files) {
        const args = ['create', '--dry-run=server', '-o', 'name', '-f', join(folder, file)];
        expect((await run(cluster.kubectlPath, args, { env })).stdout).toMatch(/^(job.batch|pod)\/\S+\n$/);
      }
    });

    test('what would change nothing is refused', async () => {
      const running = await job('running', 1, '60s');
      await science.phase(running, 'Running');
      for (const words of [['hold'], ['priority', '-5']]) {
        const [command = '', ...rest] = words;
        await expect(fluxqueue(command, 'running', ...rest)).rejects.toThrow(
          /FLUXQ_NOT_WAITING: workload: has its nodes already, .*kubectl fluxqueue requeue/,
        );
        await expect(fluxqueue(command, 'suspended', ...rest)).rejects.toThrow(
          /FLUXQ_NOT_WAITING: .*has ended/,
        );
      }
      expect(await fluxqueue('release', 'running')).toBe('job/running is not held');
      const { metadata } = await getFixture().client.get<Job>(jobs('science', 'running'));
      expect(Object.keys(metadata.annotations ?? {}).join()).not.toMatch(/hold|priority/);
      await fluxqueue('cancel', 'running');
      await science.phase(running, 'Finished');
    });

    test('an administrator is told that there is no such namespace, or that it has no queue', async () => {
      const { stack } = getFixture();
      const asAdmin = (...words: readonly string[]) =>
        stack.roles.once(words, { KUBECONFIG: stack.cluster.kubeconfig });
      for (const words of [['queue'], ['top'], ['why', 'x'], ['hold', 'x']])
        await expect(asAdmin(...words, '-n', 'nosuch')).rejects.toThrow(
          /FLUXQ_NAMESPACE_UNKNOWN: .*"nosuch"/,
        );
      const without =
        'nothing runs or waits in namespace default, which has not the label fluxqueue/enabled: "true"; -n names another one\n';
      expect(await asAdmin('queue', '-n', 'default')).toBe(without);
      expect(await asAdmin('top', '-n', 'default')).toBe(without);
    });

    test('a running Job is given back to the queue and starts again', async () => {
      const again = await job('again', 1, UNTIL_ENDED);
      const before = await science.phase(again, 'Running');
      expect(await fluxqueue('requeue', 'again')).toMatch(
        /^job\/again requeued; kubectl fluxqueue why again /,
      );
      await science.regranted(again, before);
      const { metadata } = await getFixture().client.get<Job>(jobs('science', 'again'));
      expect(metadata.annotations).not.toHaveProperty(['fluxqueue/hold']);
      await fluxqueue('cancel', 'again');
      await expect(fluxqueue('requeue', 'suspended')).rejects.toThrow(/FLUXQ_REQUEUE: .*has ended/);
    });

    test('kubectl completes names of workloads, and nothing where there is no apiserver', async () => {
      const { cluster } = getFixture().stack;
      const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-plugin-'));
      const bin = join(__dirname, '..', '..', 'bin');
      // As npm installs them.
      symlinkSync(join(bin, 'fluxqueue.js'), join(folder, 'kubectl-fluxqueue'));
      symlinkSync(join(bin, 'kubectl_complete-fluxqueue.js'), join(folder, 'kubectl_complete-fluxqueue'));
      const completed = async (kubeconfig: string, ...words: readonly string[]) => {
        const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
        const env = { ...process.env, PATH, KUBECONFIG: kubeconfig };
        return (await run(cluster.kubectlPath, ['__complete', 'fluxqueue', ...words], { env })).stdout;
      };
      try {
        const words = ['why', '-n', 'science', 'sus'];
        expect(await completed(cluster.kubeconfigForUser(ADA), ...words)).toBe('suspended\tFinished\n:4\n');
        expect(await completed(cluster.kubeconfigForUser(ADA), 'requ')).toMatch(/^requeue\t.*\n:4\n$/);
        const nobody = join(folder, 'config');
        writeFileSync(nobody, UNREACHABLE_KUBECONFIG);
        expect(await completed(nobody, ...words)).toBe(':4\n');
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('an administrator empties a node without ending a Job', async () => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfig;
      const last = await job('last', 1, UNTIL_ENDED);
      await science.shown('last-job', 'Running');
      const refused = stack.roles.once(['drain', 'node-0'], {
        KUBECONFIG: stack.cluster.kubeconfigForUser(ADA),
      });
      await expect(refused).rejects.toThrow(/forbidden/i);
      const said = await stack.roles.once(['drain', 'node-0'], { KUBECONFIG });
      expect(said).toMatch(
        /^node\/node-0 cordoned\nNAMESPACE +WORKLOAD +PHASE +UNTIL\nscience +job\/last +Running +2\d{3}-.*\nnext: /,
      );
      const draining = await stack.roles.command(['drain', 'node-0', '--after-jobs'], { KUBECONFIG });
      await draining.says('job/last');
      const late = await job('late', 1, '300ms');
      await science.phase(late, 'Waiting');
      await science.end(last);
      const ended = await draining.ended();
      expect(ended).toMatch(/^exit code 0\n(.|\n)*job\/last +Gone\n(.|\n)*kubectl uncordon node-0$/);
      expect((await science.row(late))?.phase).toBe('Waiting');
      await stack.cluster.kubectl(['uncordon', 'node-0']);
      await science.phase(late, 'Finished');
    });

    test('a user without rights, a wrong name and a wrong word get one sentence', async () => {
      await expect(fluxqueue('why', 'nothing')).rejects.toThrow(
        /FLUXQ_WORKLOAD_UNKNOWN: workload: no FluxJob in namespace science is about it \(got "nothing"\); kubectl fluxqueue queue --all -n science lists/,
      );
      await expect(fluxqueue('hold', 'job/nothing')).rejects.toThrow(
        /FLUXQ_WORKLOAD_UNKNOWN: .*kubectl fluxqueue queue/,
      );
      await expect(fluxqueue('why', 'service/x')).rejects.toThrow(
        /FLUXQ_WORKLOAD_NAME: .*write its name, job\/NAME, pod\/NAME, podgroup\/NAME, jobset\/NAME \(or another workload kind\), mc\/NAME or fj\/NAME/,
      );
      const urgent = await job('urgent', 1, '300ms', { 'fluxqueue/hold': 'true' });
      await science.phase(urgent, 'Waiting', 'Held');
      // Admission's own sentence, with its remedy and no other.
      const refused = await fluxqueue('priority', 'urgent', '100').catch(messageOf);
      expect(refused).toMatch(/^.*FLUXQ_PRIORITY: .*$/m);
      expect(refused).not.toMatch(/PATCH|KUBERNETES_|RBAC/);
      await fluxqueue('cancel', 'urgent');
      const { stack } = getFixture();
      const elsewhere = stack.roles.once(['queue', '-n', 'default'], {
        KUBECONFIG: stack.cluster.kubeconfigForUser(ADA),
      });
      await expect(elsewhere).rejects.toThrow(/forbidden/i);
      const { spec } = await getFixture().client.get<Job>(jobs('science', 'suspended'));
      expect(spec.suspend).toBe(false);
    });
  },
  { nodes: 1, nodeShape: { cpu: '4', memory: '64Gi' } },
);
