/** CPU profiles of a trial: of the apiserver in the format of pprof, and of the controller in that of V8. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from '../stack/stack';
import { type CpuProfile, secondsByFunction, secondsByKind } from './profile-shares';

const run = promisify(execFile);

/** Arguments of an apiserver that can be profiled. */
export const PROFILED_APISERVER = ['--profiling=true'];

const MOST_BYTES = 64 * 1024 * 1024;

export class Profiler {
  constructor(
    private readonly stack: Stack,
    private readonly folder: string,
  ) {
    mkdirSync(folder, { recursive: true });
    // Each role that is started from now on writes its profile when it ends.
    process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --cpu-prof --cpu-prof-dir=${folder}`;
  }

  /**
   * Profiles the apiserver for so many seconds from now on. It needs `go`, which builds the control plane where it is not downloaded.
   * @returns CPU seconds by kind of request
   */
  async apiserver(name: string, seconds: number): Promise<ReadonlyMap<string, number>> {
    const { kubectlPath, kubeconfig } = this.stack.cluster;
    const request = ['get', '--raw', `/debug/pprof/profile?seconds=${seconds}`];
    const { stdout: profile } = await run(
      kubectlPath,
      [`--kubeconfig=${kubeconfig}`, '--request-timeout=0', ...request],
      { encoding: 'buffer', maxBuffer: MOST_BYTES },
    );
    const file = join(this.folder, `apiserver-${name}.pprof`);
    writeFileSync(file, profile);
    const { stdout: raw } = await run('go', ['tool', 'pprof', '-raw', file], { maxBuffer: MOST_BYTES });
    return secondsByKind(raw);
  }

  /** CPU seconds by function of the role that ended last. */
  controller(): ReadonlyMap<string, number> {
    const profiles = readdirSync(this.folder).filter((name) => name.endsWith('.cpuprofile'));
    // Their names have the time.
    const newest = profiles.sort().at(-1);
    if (newest === undefined) throw new Error(`no role has written a profile into ${this.folder}`);
    return secondsByFunction(JSON.parse(readFileSync(join(this.folder, newest), 'utf8')) as CpuProfile);
  }
}
