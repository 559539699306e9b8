/** Pods that are terminated while their brokers start: Flux ignores SIGTERM while it loads its first modules. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Ended } from '../constructs/minicluster/pod-files';
import type { Pods } from './pods';
import { describeWithFlux, lines, logged } from './suite';

/** Moments of the signal after the start of the broker, in milliseconds; the deaf time is about the first 200 ms. */
const MOMENTS = [0, 10, 20, 30, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400];

describeWithFlux('with a real Flux', (boot) => {
  /** Terminates one pod some time after its script starts the broker. */
  async function terminate(pods: Pods, index: number, moment: number): Promise<Ended> {
    const { process, ended } = await pods.start(index);
    await logged(process, 'broker: ');
    await delay(moment);
    await pods.terminate(index);
    return ended;
  }

  test('a worker ends at whatever moment of its start it is terminated', async () => {
    const pods = boot.cluster({ command: 'hostname' }, { size: MOMENTS.length + 1 });
    const codes = [];
    for (const [at, moment] of MOMENTS.entries()) codes.push((await terminate(pods, at + 1, moment)).code);
    expect(codes).toEqual(MOMENTS.map(() => 143));
  });

  test('the workers of a cluster that ends while they start end within 5 s after it', async () => {
    const pods = boot.cluster({ command: 'echo done' }, { size: 6, minSize: 1, tasks: 1 });
    const [lead, ...workers] = (await pods.startAll()).map(({ ended }) => ended);
    const { code, stdout } = await lead!;
    expect([code, lines(stdout)]).toEqual([0, ['done']]);
    const from = Date.now();
    for (const index of workers.keys()) await pods.terminate(index + 1);
    expect((await Promise.all(workers)).map((end) => end.code)).toEqual([143, 143, 143, 143, 143]);
    expect(Date.now() - from).toBeLessThan(5000);
  });
});
