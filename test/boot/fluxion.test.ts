/** Fluxion as the scheduler inside a MiniCluster, which is the default where it is installed. */
import { existsSync } from 'node:fs';
import { waitFor } from '../cluster/wait';
import { describeWithFlux, FLUX, lines } from './suite';

const hasFluxion = existsSync(`${FLUX}/lib/flux/modules/sched-fluxion-qmanager.so`);

describeWithFlux('with a real Flux', (boot) => {
  /** Three nodes of two cores. */
  async function threeNodes(): Promise<void> {
    await boot.cluster({ resources: { requests: { cpu: '2' } } }, { size: 3 }).startAll();
    await waitFor('three nodes', async () => (await boot.nodesUp()) === 3);
  }

  /** The nodes of the tasks of a job, each with the number of its tasks. */
  async function placement(...words: string[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const node of lines(await boot.inLead('flux', 'run', ...words, 'hostname')))
      counts[node] = (counts[node] ?? 0) + 1;
    return counts;
  }

  /** How many jobs are in these states. */
  async function count(states: string): Promise<number> {
    const printed = await boot.inLead('flux', 'jobs', '-no', '{id}', '-f', states);
    return printed === '' ? 0 : lines(printed).length;
  }

  (hasFluxion ? test : test.skip)('loads Fluxion and places nodes and tasks', async () => {
    await threeNodes();
    const modules = await boot.inLead('flux', 'module', 'list');
    for (const name of ['resource', 'feasibility', 'qmanager'])
      expect(modules).toContain(`sched-fluxion-${name}`);
    expect(modules).not.toContain('sched-simple');
    expect(await placement('-N3')).toEqual({ 'mc-0': 1, 'mc-1': 1, 'mc-2': 1 });
    expect(Object.values(await placement('-N2', '-n4'))).toEqual([2, 2]);
    expect(await placement('-n6')).toEqual({ 'mc-0': 2, 'mc-1': 2, 'mc-2': 2 });
    expect(Object.values(await placement('-n1', '-c2'))).toEqual([1]);
    await expect(boot.inLead('flux', 'run', '-N4', 'hostname')).rejects.toThrow('unsatisfiable');
    await expect(boot.inLead('flux', 'run', '-c3', 'hostname')).rejects.toThrow('unsatisfiable');
  });

  (hasFluxion ? test : test.skip)(
    'runs jobs at the same time and starts the next one when nodes are free',
    async () => {
      await threeNodes();
      const submit = (...words: string[]) => boot.inLead('flux', 'submit', ...words, 'sleep', '1000');
      const first = await submit('-N1', '--exclusive');
      await submit('-N1', '--exclusive');
      await submit('-n1');
      await submit('-n1');
      await waitFor('four jobs at a time', async () => (await count('run')) === 4);
      const wide = await submit('-N1', '--exclusive');
      await waitFor('a job that waits', async () => (await count('sched')) === 1);
      expect(await count('run')).toBe(4);
      const allocated = await boot.inLead('flux', 'resource', 'list', '-s', 'allocated', '-no', '{ncores}');
      expect(allocated).toBe('6');
      await boot.inLead('flux', 'cancel', first);
      await waitFor(
        'its turn',
        async () => (await boot.inLead('flux', 'jobs', '-no', '{state}', wide)) === 'RUN',
      );
      expect(await count('run')).toBe(4);
    },
  );
});
