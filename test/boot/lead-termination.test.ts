/**
 * Lead brokers that are terminated at any moment of their start. Flux ignores SIGTERM until its first modules are loaded,
 * it cannot dump a state that it has not restored, and Fluxion that waits for workers cannot be unloaded.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MiniClusterSpec } from '../../constructs/minicluster';
import { type Container, describeWithFlux, logged } from './suite';

/** Milliseconds after the start of the broker: its modules, rc1, the wait for workers, the run. */
const MOMENTS = [20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 300, 400, 1000, 2000];
const MOST = 5000;

describeWithFlux('with a real Flux', (boot) => {
  test.each<[string, Container, Partial<MiniClusterSpec>]>([
    ['that waits for workers', { command: 'sleep 100' }, { size: 2 }],
    ['with a command', { command: 'sleep 100' }, { size: 1 }],
    ['of an interactive cluster', {}, { size: 1 }],
    ['with an archive', {}, { size: 1, archive: { path: '/mnt/flux/state.tar' } }],
  ])('a lead broker %s ends within 5 s after SIGTERM', async (_, container, more) => {
    const late = [];
    for (const moment of MOMENTS) {
      const { process, ended } = await boot.cluster(container, more).start(0);
      await logged(process, 'broker: ');
      await delay(moment);
      const from = Date.now();
      await boot.pods.terminate(0);
      const end = await Promise.race([ended, delay(2 * MOST)]);
      const took = Date.now() - from;
      if (took > MOST || end?.code !== 143) late.push({ moment, took, code: end?.code });
      await boot.remove();
    }
    expect(late).toEqual([]);
  });

  test('a lead broker that is terminated while it restores its archive does not damage it', async () => {
    const state = mkdtempSync(join(tmpdir(), 'fluxqueue-state-'));
    const volumes = { state: { path: '/state', hostPath: state } };
    const more: Partial<MiniClusterSpec> = { size: 1, archive: { path: '/state/archive.tar' } };
    try {
      await boot.cluster({ command: 'echo first', volumes }, more).toTheEnd();
      await boot.remove();
      for (const moment of [100, 200, 300, 400, 500, 600, 700, 800, 1000]) {
        const { process, ended } = await boot.cluster({ volumes }, more).start(0);
        await logged(process, 'broker: ');
        await delay(moment);
        await boot.pods.terminate(0);
        await ended;
        await boot.remove();
      }
      const list: Container = { command: "flux jobs -ano '{name}'", launcher: true, volumes };
      const { lead } = await boot.cluster(list, more).toTheEnd();
      expect([lead.code, lead.stdout]).toEqual([0, 'echo\n']);
    } finally {
      rmSync(state, { recursive: true });
    }
  });
});
