/** `npm start` on a machine whose control plane is not built yet. */
import { execFile, execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { findAssets } from '../cluster/assets';
import { describeWithCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { Machine } from './process';

const run = promisify(execFile);

let machine: Machine;
beforeAll(() => {
  machine = new Machine();
});
afterAll(() => machine.remove());

/** Starts the demo, and waits until go builds and is known to who ends it with the demo, and there is a picture. */
async function building() {
  const demo = machine.start([]);
  await demo.says('SIMULATION, while the control plane is built');
  await demo.says('workloads: waiting');
  await demo.says('of 3 packages');
  return { demo, go: await machine.goPid() };
}

test('Ctrl-C while it builds ends the build and the simulation, the second time too', async () => {
  for (let i = 0; i < 2; i++) {
    const { demo, go } = await building();
    demo.signal('SIGINT');
    expect(await demo.end()).toBe(130);
    await machine.untilClean(go);
  }
});

test('a second Ctrl-C does not wait', async () => {
  const { demo, go } = await building();
  demo.signal('SIGINT');
  demo.signal('SIGINT');
  expect(await demo.end()).toBe(130);
  await machine.untilClean(go);
});

test('a demo that is killed leaves nothing behind, and the next one builds', async () => {
  const killed = await building();
  killed.demo.signal('SIGKILL');
  expect(await killed.demo.end()).toBe('SIGKILL');
  await machine.untilClean(killed.go);
  const { demo, go } = await building();
  demo.signal('SIGTERM');
  expect(await demo.end()).toBe(130);
  await machine.untilClean(go);
});

describeWithCluster(
  'a control plane that is built while the demo runs',
  (programs) => {
    test('the real demo follows the simulation, and its commands work as printed', async () => {
      const demo = machine.start(['--nodes', '4', '--jobs', '6', '--keep'], programs().folder);
      await demo.says('SIMULATION, while the control plane is built');
      await demo.says('the real demo begins');
      await demo.says('Your own jobs', 120_000);
      const [use, queue, why, history] = [...demo.output.matchAll(/^ {2}(\S.*)$/gm)].map(
        ([, command]) => command!,
      );
      const shell = async (command: string) => (await run('/bin/sh', ['-c', `${use}; ${command}`])).stdout;
      expect(await shell(queue!)).toMatch(/job\/wide +Finished/);
      expect(await shell(why!)).toContain('Unsatisfiable: asks for 1 node with 999 cores');
      expect(await shell(history!)).toMatch(/ Finished .* it succeeded\n/);
      const own = demo.output.match(/^Your own jobs: (.*) \(namespace/m)![1]!;
      expect(await shell(own)).toMatch(/^job.batch\/small-\w+ created$/m);
      demo.signal('SIGINT');
      expect(await demo.end()).toBe(0);
      const directory = dirname(use!.match(/KUBECONFIG=(\S+)/)![1]!);
      const left = () => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).includes(directory);
      await waitFor('its processes to be gone', () => !left());
    });
  },
  async () => {
    const { kubectl } = await findAssets();
    return { folder: dirname(kubectl), stop: async () => undefined };
  },
);
