/** A lock file between processes, which another process takes over when its owner has died. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface LockOptions {
  /** Checked before every attempt: true if the lock is no longer needed. */
  readonly done: () => boolean;
  /** Called about once per second while another process holds the lock. */
  readonly waiting: (pid: number, milliseconds: number) => void;
  /** Ends the wait. @default - it lasts as long as the owner lives */
  readonly signal?: AbortSignal | undefined;
}

export interface Lock {
  release(): void;
}

/** Takes the lock. @returns undefined when `done` becomes true first */
export async function lockFile(
  path: string,
  { done, waiting, signal }: LockOptions,
): Promise<Lock | undefined> {
  const started = performance.now();
  for (;;) {
    if (done()) return undefined;
    if (tryLock(path)) return { release: () => rmSync(path, { force: true }) };
    const owner = ownerOf(path);
    if (owner !== undefined && !isAlive(owner)) {
      removeStale(path, owner);
      continue;
    }
    if (owner !== undefined) waiting(owner, performance.now() - started);
    await delay(1000, undefined, { ...(signal && { signal }) });
  }
}

/** Links a complete file into place, so that no process reads a lock without an owner. */
function tryLock(path: string): boolean {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Two processes may find the same dead owner; the rename succeeds for one of them. If the file is a new lock, it is put
 * back.
 */
function removeStale(path: string, deadOwner: number): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (ownerOf(aside) !== deadOwner) linkSync(aside, path);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
