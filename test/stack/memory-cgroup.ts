/** A cgroup with a limit of memory, as the kubelet makes for a container. Linux, and only where this process may write cgroups. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version 1 has a tree for memory, version 2 one for all. */
const ROOTS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
] as const;

export class MemoryCgroup {
  private constructor(
    private readonly folder: string,
    private readonly peakFile: string,
  ) {}

  /** Undefined where this process cannot make one. */
  static create(name: string, bytes: number): MemoryCgroup | undefined {
    for (const { root, limit, peak } of ROOTS) {
      const folder = join(root, name);
      try {
        mkdirSync(folder);
        if (!existsSync(join(folder, limit))) throw new Error('the controller of memory is not on');
        writeFileSync(join(folder, limit), String(bytes));
        return new MemoryCgroup(folder, join(folder, peak));
      } catch {
        if (existsSync(folder)) rmdirSync(folder);
      }
    }
    return undefined;
  }

  /** A command that executes the command behind it in the cgroup. */
  get through(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${join(this.folder, 'cgroup.procs')} && exec "$@"`, 'sh'];
  }

  /** Bytes; undefined where the kernel does not tell. */
  get peak(): number | undefined {
    return existsSync(this.peakFile) ? Number(readFileSync(this.peakFile, 'utf8')) : undefined;
  }

  /** Once its processes have ended. */
  remove(): void {
    rmdirSync(this.folder);
  }
}
