// Own cluster: the read API.
/** The dashboard of the stack, as its readers open it: a browser at `kubectl proxy`, which asks in their name. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import { waitFor } from '../cluster/wait';
import { hasBrowser, launchBrowser } from '../dashboard/browser';
import { follow } from './dashboard-events';
import { describeOwnStack, inOneNamespace } from './suite';
import { ADA, giveRole } from './users';
import { Namespace, UNTIL_ENDED } from './workloads';

const API = `/apis/${READ_GROUP}/${READ_VERSION}`;
const dashboardOf = (namespace?: string) =>
  `${API}${namespace === undefined ? '' : `/namespaces/${namespace}`}/dashboards/queue/proxy`;

/** Lines of what has run in the namespace. */
const OF_SCIENCE = [
  expect.objectContaining({ queue: 'default', namespace: 'science', cpuHours: expect.any(Number) }),
];

describeOwnStack(
  'the dashboard of the stack',
  (getFixture) => {
    let science: Namespace;
    const proxies: ChildProcess[] = [];
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    beforeAll(async () => {
      const { stack } = getFixture();
      await giveRole(stack.cluster, ADA, 'view', 'science');
      await stack.startReader();
      const secret = await Namespace.create(getFixture, 'secret');
      const hidden = await secret.job('hidden', { cores: 1, runs: UNTIL_ENDED });
      await secret.phase(hidden, 'Running');
      // The apiserver is told a while later that it is served, and what the role of a reader has.
      const asReader = stack.cluster.clientFor(ADA.token);
      await waitFor('the dashboard of a reader', async () => {
        const { status } = await asReader.send('GET', `${dashboardOf('science')}/`);
        return status === 200;
      });
    });
    afterAll(() => {
      for (const proxy of proxies) proxy.kill();
    });

    /** Starts `kubectl proxy` with the kubeconfig. @returns its address */
    async function kubectlProxy(kubeconfig: string): Promise<string> {
      const { kubectlPath } = getFixture().stack.cluster;
      const proxy = spawn(kubectlPath, ['--kubeconfig', kubeconfig, 'proxy', '--port=0']);
      proxies.push(proxy);
      const [said] = (await once(proxy.stdout, 'data')) as [Buffer];
      return `http://${/127\.0\.0\.1:\d+/.exec(said.toString())![0]}`;
    }

    const asAda = () => kubectlProxy(getFixture().stack.cluster.kubeconfigForUser(ADA));

    test('a reader of a namespace sees it, live, and nothing of others', async () => {
      const address = `${await asAda()}${dashboardOf('science')}`;
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const followed = follow(`${address}/`, ({ nodes }) => nodes.length > 0, begin);
      await begun;
      const shown = await science.job('shown', { cores: 2, runs: UNTIL_ENDED });
      const messages = await followed;
      expect(messages[0]).toMatchObject({ namespace: 'science', nodes: [] });
      expect(messages.at(-1)!.nodes).toEqual([{ name: 'node-0', cores: 4, gpus: 0, state: 'up' }]);
      const seen = messages.flatMap(({ jobs }) => jobs.map(({ key }) => key));
      expect(new Set(seen)).toEqual(new Set(['science/shown-job']));
      expect(JSON.stringify(messages)).not.toContain('hidden');
      const history = await fetch(`${address}/histories/secret/hidden`);
      expect(await history.json()).toEqual({ problem: 'This page shows science alone.' });
      // Units count from the start of its pod, which commits gather.
      await science.phase(shown, 'Running');
    });

    test('usage is that of the namespace, or of all', async () => {
      const usage = async (address: string) => (await (await fetch(`${address}/usages`)).json()) as unknown;
      const ofScience = { answer: expect.objectContaining({ lines: OF_SCIENCE }) };
      expect(await usage(`${await asAda()}${dashboardOf('science')}`)).toEqual(ofScience);
      const admin = await kubectlProxy(getFixture().stack.cluster.kubeconfig);
      expect(await usage(`${admin}${dashboardOf('science')}`)).toEqual(ofScience);
      expect(JSON.stringify(await usage(`${admin}${dashboardOf()}`))).toContain('"namespace":"secret"');
    });

    test('the apiserver lets nobody see what is not theirs', async () => {
      const ada = await asAda();
      for (const path of [dashboardOf('secret'), dashboardOf()])
        for (const part of ['/', '/events', '/usages', '/histories/secret/hidden'])
          expect((await fetch(`${ada}${path}${part}`)).status).toBe(403);
      const { cluster } = getFixture().stack;
      const anonymous = await fetch(
        `${await kubectlProxy(cluster.kubeconfigForUser({ ...ADA, token: 'wrong' }))}${dashboardOf('science')}/`,
      );
      expect(anonymous.status).toBe(401);
    });

    test('an administrator sees all namespaces and nodes', async () => {
      const address = `${await kubectlProxy(getFixture().stack.cluster.kubeconfig)}${dashboardOf()}`;
      const [all] = await follow(`${address}/`, ({ jobs }) => jobs.some(({ name }) => name === 'job/hidden'));
      expect([all!.nodes.map(({ name }) => name), all!.nodesUnknown]).toEqual([['node-0'], undefined]);
    });

    test('the page of one person has the history, with the rights of this person', async () => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      const command = await stack.roles.command(['dashboard', '-n', 'science'], { KUBECONFIG });
      await command.says('Ctrl-C ends it');
      const [url] = /http:\S+/.exec(command.log())!;
      const answer = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as unknown;
      expect(await answer('histories/science/shown')).toMatchObject({
        answer: { entries: expect.arrayContaining([expect.objectContaining({ event: 'Submitted' })]) },
      });
      expect(await answer('histories/science/none')).toMatchObject({ answer: { entries: [] } });
      expect(await answer('histories/secret/hidden')).toEqual({
        problem: expect.stringMatching(
          /^FLUXQ_READ_FORBIDDEN: \S+ may not get histories in namespace secret; ask an administrator/,
        ),
      });
      expect(await answer('usages')).toEqual({ answer: expect.objectContaining({ lines: OF_SCIENCE }) });
      await command.end('SIGTERM', 'exit code 0');
    });

    (hasBrowser() ? describe : describe.skip)('in a browser', () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await launchBrowser();
      });
      afterAll(() => browser?.close());

      test('the page is found without its slash, follows the cluster, and shows the history', async () => {
        const page = await browser.newPage();
        const problems: string[] = [];
        page.on('console', (message) => problems.push(message.text()));
        page.on('pageerror', (error) => problems.push(String(error)));
        const ada = await asAda();
        await page.goto(`${ada}${dashboardOf('science')}`);
        await page.waitForURL(`${ada}${dashboardOf('science')}/`);
        await page.getByText('Live', { exact: true }).waitFor();
        await page.getByText('Namespace science').waitFor();
        await science.job('later', { cores: 1, runs: UNTIL_ENDED });
        await page.getByRole('button', { name: 'job/later', exact: true }).first().click();
        const dialog = page.getByRole('dialog', { name: 'science/job/later' });
        await dialog.getByText('Submitted').first().waitFor();
        await dialog.getByText('Running', { exact: true }).first().waitFor();
        expect(await page.textContent('body')).not.toContain('hidden');
        expect(problems.filter((problem) => !problem.includes('favicon'))).toEqual([]);
        await page.close();
      });
    });
  },
  { cluster: { nodes: 1, nodeShape: { cpu: '4', memory: '64Gi' }, users: [ADA] }, readApi: true },
);
