// Own cluster: the apiserver is restarted.
/** The dashboard of a user: it shows what this user may see, and follows the cluster. */
import { hasBrowser, launchBrowser } from '../dashboard/browser';
import { follow } from './dashboard-events';
import { describeOwnStack, inOneNamespace } from './suite';
import { ADA, giveRole } from './users';
import { Namespace, UNTIL_ENDED } from './workloads';

describeOwnStack(
  'dashboard',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    beforeAll(() => giveRole(getFixture().stack.cluster, ADA, 'view', 'science'));

    /** Starts the command, and resolves when it has printed its address. */
    async function dashboard(kubeconfig: string, ...args: readonly string[]) {
      const command = await getFixture().stack.roles.command(['dashboard', ...args], {
        KUBECONFIG: kubeconfig,
      });
      await command.says('Ctrl-C ends it');
      return { command, url: /http:\S+/.exec(command.log())![0] };
    }

    test('a user sees the own namespace, live, and nothing of others', async () => {
      const { stack } = getFixture();
      const secret = await Namespace.create(getFixture, 'secret');
      const hidden = await secret.job('hidden', { cores: 1, runs: UNTIL_ENDED });
      await secret.phase(hidden, 'Running');
      const { command, url } = await dashboard(stack.cluster.kubeconfigForUser(ADA), '-n', 'science');
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const followed = follow(url, ({ jobs }) => jobs.some(({ result }) => result === 'Succeeded'), begin);
      await begun;
      const shown = await science.job('shown', { cores: 2, runs: '300ms' });
      await science.phase(shown, 'Finished');
      const messages = await followed;
      for (const path of ['histories/science/shown', 'usages'])
        expect(await (await fetch(`${url}${path}`)).json()).toEqual({
          problem: expect.stringMatching(
            /^FLUXQ_READ_API_MISSING: this cluster has no read API of the queue; /,
          ),
        });
      const jobs = messages.flatMap((message) => message.jobs);
      expect(new Set(jobs.map(({ name, namespace }) => `${namespace}/${name}`))).toEqual(
        new Set(['science/job/shown']),
      );
      expect(JSON.stringify(messages)).not.toContain('hidden');
      expect(messages[0]).toMatchObject({
        nodes: [],
        nodesUnknown: expect.stringContaining('You may not list nodes'),
      });
      await command.end('SIGTERM', 'exit code 0');
    });

    test('an administrator sees all namespaces, and the nodes', async () => {
      const { cluster } = getFixture().stack;
      const { command, url } = await dashboard(cluster.kubeconfig, '-A');
      const [all] = await follow(url, () => true);
      expect(all!.jobs.find(({ namespace }) => namespace === 'secret')).toMatchObject({
        name: 'job/hidden',
        shares: [{ node: 'node-0', cores: 1 }],
      });
      expect(all!.nodes).toEqual([{ name: 'node-0', cores: 4, gpus: 0, state: 'up' }]);
      if (!hasBrowser()) return;
      const browser = await launchBrowser();
      const page = await browser.newPage();
      await page.goto(url);
      await page.getByRole('button', { name: 'secret/job/hidden: 1 core of node-0' }).waitFor();
      await browser.close();
      await command.end('SIGTERM', 'exit code 0');
    });

    test('who may not read FluxJobs gets one sentence', async () => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      await expect(stack.roles.once(['dashboard', '-A'], { KUBECONFIG })).rejects.toThrow(
        /FLUXQ_KUBERNETES_FORBIDDEN: .*forbidden/,
      );
      await expect(stack.roles.once(['dashboard', '--port', '70000'], { KUBECONFIG })).rejects.toThrow(
        /must be a whole number from 0 to 65535/,
      );
    });

    test('goes on when the apiserver was away', async () => {
      const { cluster } = getFixture().stack;
      const { command, url } = await dashboard(cluster.kubeconfig, '-n', 'science');
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const followed = follow(url, ({ jobs }) => jobs.some(({ name }) => name === 'job/later'), begin);
      await begun;
      await cluster.restartApiserver();
      await science.job('later', { cores: 1, runs: '300ms' });
      expect((await followed).length).toBeGreaterThan(0);
      await command.end('SIGTERM', 'exit code 0');
    });
  },
  { cluster: { nodes: 1, nodeShape: { cpu: '4', memory: '64Gi' }, users: [ADA] } },
);
