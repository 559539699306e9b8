import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { cases } from '../../fast-check';
import type { Report } from './property';

const folder = mkdtempSync(join(tmpdir(), 'properties-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The nightly run multiplies 20,000 cases; a quarter of them, others each day, is enough for every change. */
process.env.PROPERTY_FACTOR ??= '0.25';
const ENOUGH = cases(20_000);

test(
  'the properties of scheduling hold in thousands of random cases',
  async () => {
    const outfile = join(folder, 'properties.js');
    // Native modules are only for flux-sched's library.
    const external = ['koffi', 'pg-native'];
    const entryPoints = [join(__dirname, 'main.ts')];
    buildSync({ entryPoints, outfile, bundle: true, platform: 'node', external, logLevel: 'error' });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile, '--json'], {
      env: { ...process.env, NODE_OPTIONS: '' },
    }).catch((failed: { stdout: string; stderr: string }) => failed);
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as { cases: number; properties: readonly Report[] };
    const failures = report.properties.filter(({ failure }) => failure !== undefined);
    expect(failures.map(({ property, failure }) => `${property}: ${failure}`)).toEqual([]);
    expect(report.cases).toBeGreaterThanOrEqual(ENOUGH.numRuns);
  },
  ENOUGH.milliseconds,
);
