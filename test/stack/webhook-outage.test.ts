// Own cluster: admission by the webhook, which ends.
/**
 * The stack's own webhook is away: until some Jobs have lost their grant more often than their requeue limit allows, and for ten
 * minutes with NIGHTLY=1. What was admitted before runs by itself afterwards; new Jobs are refused meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../cluster/wait';
import { expectNothingLost } from './settled';
import { describeOwnStack, inOneNamespace } from './suite';
import { withWebhook } from './with-webhook';
import { type Namespace, UNTIL_ENDED } from './workloads';

const TIMEOUT = 900_000;
/** Requeues for a cause of its own, after which a Job waits for its user. */
const LIMIT = 1;
const AWAY_MS = process.env.NIGHTLY === undefined ? 0 : 600_000;
const NODES = 3;

describeOwnStack(
  'an outage of the webhook',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    test(
      'ends no Job, refuses new ones, and needs nobody afterwards',
      async () => {
        const { stack } = getFixture();
        await science.fluxSetup('queue', { requeue: { limit: LIMIT, backoff: '1s' } });
        const tasks = await science.job('tasks', { pods: 1, completions: 6, runs: '1s', cores: 4 });
        await science.phase(tasks, 'Running');
        const full = await science.job('full', { pods: NODES - 1, cores: 4, runs: UNTIL_ENDED });
        await science.phase(full, 'Running');
        const gang = await science.job('gang', {
          pods: NODES - 1,
          cores: 4,
          annotations: { 'fluxqueue/gang-size': String(NODES - 1) },
        });
        const held = await science.job('held', { labels: { 'fluxqueue/hold': 'true' } });
        const pod = await science.pod('lone', { cores: 4 });
        for (const waiting of [gang, pod]) await science.phase(waiting, 'Waiting');

        await stack.webhook!.crash();
        const began = performance.now();
        await science.delete(full, 'Job');
        await expect(science.job('refused')).rejects.toThrow(/failed calling webhook "jobs\.fluxqueue/);
        await waitFor(
          'the gang to lose more grants than its limit',
          async () => ((await science.row(gang))?.clusterRequeues ?? 0) > LIMIT + 1,
          { timeoutMs: TIMEOUT },
        );
        await science.patch(held, 'Job', { metadata: { labels: { 'fluxqueue/hold': 'false' } } });
        await pause(Math.max(0, AWAY_MS - (performance.now() - began)));

        await stack.startWebhook();
        const returned = performance.now();
        await waitFor('new Jobs to be admitted', () =>
          science.job('late').then(
            () => true,
            () => false,
          ),
        );
        await expectNothingLost(science, TIMEOUT);
        const seconds = [returned - began, performance.now() - returned].map((each) =>
          (each / 1000).toFixed(1),
        );
        process.stderr.write(`webhook away for ${seconds[0]} s: all ran ${seconds[1]} s after its return\n`);
        for (const object of [tasks, gang, held, pod]) {
          const row = (await science.row(object))!;
          expect(row).toMatchObject({ result: 'Succeeded' });
          expect(row.requeues - row.clusterRequeues).toBe(0);
        }
      },
      AWAY_MS + TIMEOUT,
    );
  },
  withWebhook({
    createsMiniClusters: false,
    cluster: { nodes: NODES, nodeShape: { cpu: '4', memory: '64Gi' } },
    config: { grants: { unschedulableSeconds: 3 } },
  }),
);
