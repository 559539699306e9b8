// Own cluster: thousands of Jobs wait.
/**
 * A controller whose container has 256 MiB, with the options of the stack and the embedded matcher in the same process, while 5,000
 * Jobs wait (NIGHTLY=1; 500 in `npm test`): it is not killed, and what waits runs.
 */
import { roleCommand } from '../../constructs/images';
import { waitFor } from '../cluster/wait';
import { MemoryCgroup } from './memory-cgroup';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { Namespace, UNTIL_ENDED } from './workloads';

const MIB = 2 ** 20;
const LIMIT = 256 * MIB;
const WAITING = process.env.NIGHTLY === undefined ? 500 : 5_000;
const AT_ONCE = 25;
const NODES = 8;
const TIMEOUT = 900_000;

const cgroup = MemoryCgroup.create(`fluxqueue-test-${process.pid}`, LIMIT);
if (cgroup === undefined)
  process.stderr.write('skipped: this process cannot make a cgroup with a limit of memory\n');
const declare = cgroup === undefined ? test.skip : test;

describeOwnStack(
  'a controller with 256 MiB',
  (getFixture) => {
    let controller: RoleProcess | undefined;
    afterAll(async () => {
      await controller?.crash();
      cgroup?.remove();
    });

    declare(
      `goes on while ${WAITING} Jobs wait`,
      async () => {
        const { stack, queue } = getFixture();
        const [, heap = ''] = roleCommand('controller');
        const how = { environment: { NODE_OPTIONS: heap }, through: cgroup!.through };
        controller = await stack.startController({}, how);
        const science = await Namespace.create(getFixture, 'science');
        const full = await science.job('full', { pods: NODES, cores: 4, runs: UNTIL_ENDED });
        await science.phase(full, 'Running');
        for (let i = 0; i < WAITING; i += AT_ONCE)
          await Promise.all(
            Array.from({ length: AT_ONCE }, (_, j) =>
              science.job(`waits-${i + j}`, {
                cores: 1 + ((i + j) % 4),
                annotations: { 'fluxqueue/walltime': '10m' },
              }),
            ),
          );
        const waiting = science.uids.filter((uid) => uid !== full.metadata.uid);
        const rows = () => queue.byUid(waiting);
        await waitFor('all rows', async () => (await rows()).length === WAITING, { timeoutMs: TIMEOUT });
        await science.delete(full, 'Job');
        await waitFor(
          'a tenth of them to run',
          async () => (await rows()).filter(({ result }) => result === 'Succeeded').length >= WAITING / 10,
          { timeoutMs: TIMEOUT },
        );
        expect(controller.process.running).toBe(true);
        const peak = cgroup!.peak;
        const used = peak === undefined ? '' : `, at most ${Math.round(peak / MIB)} MiB`;
        process.stderr.write(`${WAITING} Jobs waited on a controller with ${LIMIT / MIB} MiB${used}\n`);
      },
      TIMEOUT,
    );
  },
  { createsMiniClusters: false, cluster: { nodes: NODES, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
