/**
 * Takes programs from their releases instead of a build, if all of them arrive within seconds. What arrives is used only if it has the checksum,
 * and only together: the folder appears when it is complete.
 */
import { createHash } from 'node:crypto';
import { chmodSync, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lockFile } from './lock';
import { ProcessSet } from './processes';
import type { Release } from './releases';

export interface DownloadOptions {
  readonly releases: readonly Release[];
  /** The folder of the finished programs. */
  readonly folder: string;
  /** Whether the folder is complete. */
  readonly done: () => boolean;
  readonly progress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the first byte of each file, and for all of them. A build takes minutes. @default - 3 s, 30 s */
  readonly limits?: { readonly answer: number; readonly all: number };
}

const LIMITS = { answer: 3_000, all: 30_000 };
const MB = 1e6;

/**
 * Downloads into `folder`. One of several processes downloads, the others wait.
 *
 * @returns false if something is missing or wrong, which `progress` is told; then the folder is as before
 */
export async function downloadPrograms(options: DownloadOptions): Promise<boolean> {
  const { folder, done, progress, signal } = options;
  mkdirSync(dirname(folder), { recursive: true });
  const lock = await lockFile(`${folder}.lock`, {
    done,
    signal,
    waiting: (pid) => progress(`waiting for process ${pid}, which downloads or builds the same`),
  });
  if (lock === undefined) return true;
  // In the folder of the result, so that the last step is a rename within one file system.
  const processes = ProcessSet.create(`${basename(folder)}.building`, dirname(folder));
  try {
    await download(processes, options);
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    progress(`no official programs: ${reasonOf(error)}`);
    return false;
  } finally {
    await processes.stop();
    lock.release();
  }
}

async function download(processes: ProcessSet, options: DownloadOptions): Promise<void> {
  const { releases, folder, progress, signal, limits = LIMITS } = options;
  const result = join(processes.directory, 'result');
  mkdirSync(result);
  const failed = new AbortController();
  const ended = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const late = () => failed.abort(new Error('the download takes longer than some seconds'));
  const timer = setTimeout(late, limits.all);
  let bytes = 0;
  const received = (count: number) => {
    bytes += count;
    progress(`downloading official programs: ${Math.floor(bytes / MB)} MB`);
  };
  const fetchInto = async (release: Release) => {
    const file = join(release.member === undefined ? result : processes.directory, release.program);
    await fetchFile(release, file, { answerMs: limits.answer, ended, received });
    if (release.member !== undefined) await extract(processes, file, release.member, result);
    chmodSync(join(result, release.program), 0o755);
  };
  // The first one that fails ends the others: they are of no use without it.
  await Promise.all(
    releases.map((release) => fetchInto(release).catch((error: unknown) => failed.abort(error))),
  );
  clearTimeout(timer);
  signal?.throwIfAborted();
  failed.signal.throwIfAborted();
  rmSync(folder, { recursive: true, force: true });
  renameSync(result, folder);
  progress(`downloaded official programs: ${Math.floor(bytes / MB)} MB`);
}

interface Transfer {
  readonly answerMs: number;
  readonly ended: AbortSignal;
  readonly received: (bytes: number) => void;
}

/** @throws unless the whole file has arrived and has the checksum */
async function fetchFile(
  { url, algorithm, checksum }: Release,
  file: string,
  { answerMs, ended, received }: Transfer,
): Promise<void> {
  const unanswered = new AbortController();
  const timer = setTimeout(() => unanswered.abort(new Error(`${url} does not answer`)), answerMs);
  const signal = AbortSignal.any([ended, unanswered.signal]);
  try {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new Error(`${url} answers ${response.status}`);
    const hash = createHash(algorithm);
    const counted = new Transform({
      transform(chunk: Buffer, _, next) {
        clearTimeout(timer);
        hash.update(chunk);
        received(chunk.length);
        next(null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(file), { signal });
    if (hash.digest('hex') !== checksum) throw new Error(`${url} does not have the checksum ${checksum}`);
  } catch (error) {
    // Its reason says more than that it was aborted.
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function extract(processes: ProcessSet, archive: string, member: string, into: string): Promise<void> {
  const depth = `--strip-components=${member.split('/').length - 1}`;
  const tar = await processes.start('tar', 'tar', ['-xzf', archive, depth, '-C', into, member]);
  if ((await tar.exited) !== 'exit code 0')
    throw new Error(`${member} is not in the archive: ${tar.logTail(1)}`);
}

/** fetch itself says only that it failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Error };
  return cause === undefined ? message : `${message}, ${cause.message || cause}`;
}
