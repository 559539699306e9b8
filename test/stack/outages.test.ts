// Own cluster: the controller reaches apiserver and Postgres through proxies, and the nodes flap.
/**
 * Outages of the database, the apiserver, the nodes and Fluxion, while Jobs are submitted: nothing is lost or granted twice, and all
 * that was submitted before and during an outage runs by itself after it. Each prints how long that took. `npm test` plays some of them, others
 * each day; NIGHTLY=1 all.
 */
import { CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE } from '../../constructs/api/labels';
import { jobs as jobsPath } from '../../runtime/kubernetes/paths';
import { waitFor } from '../cluster/wait';
import { TcpProxy } from '../crash-matrix/tcp-proxy';
import { type FaultProxy, startFaultProxy } from '../kubernetes/fault-proxy';
import { drawOf } from '../seed';
import { OUTAGES, type Outage, type Scene } from './outages';
import type { RoleProcess } from './roles';
import { expectNothingLost } from './settled';
import { describeOwnStack } from './suite';
import { Namespace } from './workloads';

/** Milliseconds after which a test hangs. */
const TIMEOUT = 300_000;
const DRAWN = 3;
const PLAYED = drawOf(OUTAGES, DRAWN);
/** Jobs of one namespace that are deleted at once. */
const DELETED = 2_000;

describeOwnStack(
  'an outage',
  (getFixture) => {
    let scene: Scene;
    let database: TcpProxy;
    let apiserver: FaultProxy;
    let controller: RoleProcess;
    let science: Namespace;
    let submitted = 0;
    let isOver = false;
    /** After the last test the stack, and with it this controller, may be gone already. */
    const restartFailures: unknown[] = [];

    /** As a kubelet does: a controller that has ended is started again. */
    async function keepRunning(): Promise<void> {
      const { stack } = getFixture();
      const token = await stack.cluster.tokenFor(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE);
      const url = new URL(stack.postgres.url);
      url.port = String(database.port);
      const role = await stack.roles.start(
        'controller',
        {
          fluxion: { address: stack.roles.fluxionAddress },
          kubernetes: { kubeconfig: apiserver.kubeconfigOf(token) },
          leaderElection: { podUid: 'pod' },
          miniClusters: { reports: { port: 0, addresses: ['127.0.0.1'] } },
          statuses: { busyPerSecond: 1_000 },
        },
        { DATABASE_URL: url.href },
      );
      controller = role;
      role.process.exited
        .then(() => (isOver ? undefined : keepRunning()))
        .catch((error: unknown) => restartFailures.push(error));
    }

    beforeAll(async () => {
      const { stack } = getFixture();
      database = await TcpProxy.before(Number(new URL(stack.postgres.url).port));
      apiserver = await startFaultProxy(stack.cluster);
      const fluxion = await stack.roles.startFluxion();
      scene = { fixture: getFixture(), database, apiserver, fluxion, controller: () => controller };
      await keepRunning();
      await waitFor('the controller', () => controller.isReady());
      science = await Namespace.create(getFixture, 'science');
    });
    afterAll(async () => {
      isOver = true;
      await controller.stop();
      await database.close();
      await apiserver.stop();
    });

    /** Four Jobs: two of several pods, one that runs longer than an outage begins. */
    async function submit(): Promise<void> {
      const i = submitted++;
      const annotations = { 'fluxqueue/walltime': '10m' };
      await science.job(`wide-${i}`, { annotations, pods: 3, cores: 2 });
      await science.job(`loose-${i}`, { annotations, pods: 2, indexed: false });
      await science.job(`long-${i}`, { annotations, runs: '3s' });
      await science.job(`small-${i}`, { annotations });
    }

    async function play({ name, begin }: Outage): Promise<void> {
      await submit();
      const { isMet, end } = await begin(scene);
      await submit();
      await waitFor(`${name} to be met`, isMet, { timeoutMs: TIMEOUT });
      await end();
      const ended = performance.now();
      await expectNothingLost(science, TIMEOUT);
      const seconds = (performance.now() - ended) / 1000;
      process.stderr.write(`${name}: all ran ${seconds.toFixed(1)} s after its end\n`);
      const rows = await getFixture().queue.byUid(science.uids);
      expect(rows.filter(({ result }) => result !== 'Succeeded')).toEqual([]);
      expect(restartFailures).toEqual([]);
    }

    test.each(PLAYED.map((outage) => [outage.name, outage] as const))(
      'loses nothing, and needs nobody afterwards: %s',
      (_, outage) => play(outage),
    );

    test('of a namespace, whose waiting Jobs are all deleted at once, leaves no row', async () => {
      const { queue, stack } = getFixture();
      const crowd = await Namespace.create(getFixture, 'crowd');
      const hold = { labels: { 'fluxqueue/hold': 'true' } };
      const count = process.env.NIGHTLY === undefined ? DELETED / 10 : DELETED;
      for (let i = 0; i < count; i += 20)
        await Promise.all(Array.from({ length: 20 }, (_, j) => crowd.job(`held-${i + j}`, hold)));
      await waitFor('all rows', async () => (await queue.byUid(crowd.uids)).length === count, {
        timeoutMs: TIMEOUT,
      });
      const begun = performance.now();
      // The apiserver gives one request a minute, in which a loaded machine deletes fewer.
      await waitFor(
        'the deletion',
        async () => {
          await stack.cluster.request('DELETE', `${jobsPath('crowd')}?propagationPolicy=Background`);
          return true;
        },
        { timeoutMs: TIMEOUT },
      );
      await submit();
      await waitFor(
        'all to be Cancelled',
        async () => (await queue.byUid(crowd.uids)).every(({ result }) => result === 'Cancelled'),
        { timeoutMs: TIMEOUT },
      );
      const seconds = (performance.now() - begun) / 1000;
      process.stderr.write(`${count} deletes at once: over after ${seconds.toFixed(1)} s\n`);
      await expectNothingLost(science, TIMEOUT);
    });
  },
  {
    createsMiniClusters: false,
    cluster: { nodes: 4, nodeShape: { cpu: '8', memory: '64Gi' } },
    postgres: { own: true },
  },
);
