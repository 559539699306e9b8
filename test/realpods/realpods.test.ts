/**
 * The committed stack in real pods, in a reduced form: applied, Ready, Jobs and a MiniCluster, a hand-over, all pods
 * deleted at once, removed. `npm run -s realpods` does everything, in every form.
 *
 * It runs where nothing has to be built first, because the programs and the images take minutes, or where REALPODS=1 asks
 * for it. Elsewhere it is left out with one line: a machine of CI has no containerd as a rule.
 */
import { messageOf } from '../../runtime/errors';
import { prepare } from './combinations';
import { realPodsAvailable, realPodsBuilt } from './requirements';
import { runScenario } from './scenario';

const asked = process.env.REALPODS === '1';
const possible = realPodsAvailable();
const reason = possible.available ? (realPodsBuilt() ? undefined : 'not built') : possible.reason;
const runs = asked || reason === undefined;
if (!runs)
  process.stderr.write(
    `left out: the stack in real pods (${reason}; npm run -s realpods builds and runs it)\n`,
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
  }, 1_200_000);
});
