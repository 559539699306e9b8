/**
 * The committed stack in real pods, in a reduced form: applied, Ready, Jobs and a MiniCluster, a handover, all pods
 * deleted at once, removed. `npm run -s realpods` runs all steps in every combination.
 *
 * It runs if all programs and images are built, because a build takes minutes, or with REALPODS=1. Otherwise it is
 * skipped with one line, because CI machines usually have no containerd.
 */
import { messageOf } from '../../runtime/errors';
import { prepare } from './combinations';
import { runtimeImageBytes } from './images';
import { realPodsAvailable, realPodsBuilt } from './requirements';
import { runScenario } from './scenario';

const asked = process.env.REALPODS === '1';
const possible = realPodsAvailable();
const reason = possible.available ? (realPodsBuilt() ? undefined : 'not built') : possible.reason;
const runs = asked || reason === undefined;
if (!runs)
  process.stderr.write(
    `skipped: the stack in real pods (${reason}; npm run -s realpods builds and runs it)\n`,
  );

(runs ? describe : describe.skip)('the stack in real pods', () => {
  test('runs Jobs and a MiniCluster, survives the end of its pods, and leaves nothing', async () => {
    if (!possible.available) throw new Error(possible.reason);
    const lines: string[] = [];
    const progress = (line: string) => lines.push(line);
    const parts = await prepare({ admission: 'webhook', fluxion: 'sidecar' }, progress);
    const figures = await runScenario({ ...parts, nodes: 2, reduced: true, progress }).catch(
      (error: unknown) => {
        throw new Error(`${messageOf(error)}\n${lines.join('\n')}`, { cause: error });
      },
    );
    expect(figures).toMatchObject({ problems: [], restarts: 0, lost: 0 });
    expect(figures.finished).toBeGreaterThan(7);
    expect(runtimeImageBytes()).toBeLessThan(150e6);
  }, 1_200_000);
});
