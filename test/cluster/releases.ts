/**
 * Official release archives of the control plane. They are used where they can be downloaded sooner than the programs are built, and only
 * if their checksums are those that are written here.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { messageOf } from '../../runtime/errors';

const run = promisify(execFile);

export interface Release {
  readonly url: string;
  readonly sha256: string;
  /** Paths of the programs in the archive, all in one folder. @default - the download is the program, and `program` its name */
  readonly members?: readonly string[];
  readonly program?: string;
}

const KUBERNETES = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];

/** The checksums of Kubernetes 1.37.1 for other machines are not known here: these build the programs. */
const RELEASES: Readonly<Record<string, readonly Release[]>> = {
  'linux-x64': [
    {
      url: 'https://dl.k8s.io/v1.37.1/kubernetes-server-linux-amd64.tar.gz',
      sha256: '09d6de07da48e16c0fc044d7bd19c5df0c4de7d62d27f5aa648345e80f311e18',
      members: KUBERNETES.map((program) => `kubernetes/server/bin/${program}`),
    },
    {
      url: 'https://github.com/etcd-io/etcd/releases/download/v3.6.14/etcd-v3.6.14-linux-amd64.tar.gz',
      sha256: 'ffe840ff9295808e88cce2794a18a5ac87f12a5203c8314d0bf6aa119b41bac5',
      members: ['etcd-v3.6.14-linux-amd64/etcd'],
    },
    {
      url: 'https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-amd64',
      sha256: 'f5a4385a2ae1b9dd7f8acae18e002a75c0ebba124ae9d7259aa8dadb50711f46',
      program: 'kwok',
    },
  ],
};

/** Releases for this machine; none if it has to build the programs. */
export const releasesFor = (platform: NodeJS.Platform, arch: string): readonly Release[] =>
  RELEASES[`${platform}-${arch}`] ?? [];

export interface DownloadOptions {
  /** Name of the programs in progress messages. */
  readonly title: string;
  readonly releases: readonly Release[];
  /** An empty folder for the programs, on the file system where they stay. */
  readonly folder: string;
  readonly progress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds in which each server has to answer. @default 3000 */
  readonly answerMs?: number;
  /** Milliseconds that one download may take, also if it would take longer at its speed after `answerMs`. @default 60000 */
  readonly mostMs?: number;
}

/** @returns whether all programs are in the folder; if not, a progress line has said why */
export async function downloadReleases(options: DownloadOptions): Promise<boolean> {
  const { releases, title, progress, signal } = options;
  if (releases.length === 0) return false;
  try {
    for (const release of releases) await take(release, options);
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    progress(`${title} is built here, because the download failed: ${messageOf(error)}`);
    return false;
  }
}

async function take(release: Release, options: DownloadOptions): Promise<void> {
  const { folder } = options;
  const file = join(folder, 'download');
  const sum = await download(release.url, file, options);
  if (sum !== release.sha256)
    throw new Error(`${release.url} has the checksum ${sum}, not ${release.sha256}`);
  const { program, members } = release;
  if (program !== undefined) {
    await chmod(file, 0o755);
    await rename(file, join(folder, program));
  }
  if (members === undefined) return;
  await unpack(file, folder, members);
  await rm(file);
}

/** @returns the SHA-256 checksum in hexadecimal digits */
async function download(url: string, file: string, options: DownloadOptions): Promise<string> {
  const { answerMs = 3_000, signal } = options;
  const slow = new AbortController();
  const signals = [slow.signal, ...(signal === undefined ? [] : [signal])];
  const giveUp = setTimeout(() => slow.abort(new Error(`${url} did not answer in time`)), answerMs);
  try {
    const response = await fetch(url, { signal: AbortSignal.any(signals) });
    if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
    clearTimeout(giveUp);
    const pace = new Pace(url, Number(response.headers.get('content-length') ?? 0), options, slow);
    return await write(response.body, file, pace);
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  } finally {
    clearTimeout(giveUp);
  }
}

async function write(body: AsyncIterable<Uint8Array>, file: string, pace: Pace): Promise<string> {
  const hash = createHash('sha256');
  async function* counted() {
    for await (const chunk of body) {
      hash.update(chunk);
      pace.add(chunk.length);
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createWriteStream(file));
  } finally {
    pace.end();
  }
  return hash.digest('hex');
}

/** Node says `fetch failed` and puts the reason into the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return messageOf(cause ?? error);
}

/** Ends a download that would take longer than a build is worth waiting for. */
class Pace {
  private bytes = 0;
  private readonly started = performance.now();
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly url: string,
    private readonly total: number,
    private readonly options: DownloadOptions,
    slow: AbortController,
  ) {
    const { answerMs = 3_000, mostMs = 60_000 } = options;
    const stop = () => slow.abort(new Error(`${url} takes too long`));
    this.timers = [
      setTimeout(() => this.neededMs() > mostMs && stop(), answerMs),
      setTimeout(stop, mostMs),
      setInterval(() => this.report(), 1_000),
    ];
  }

  add(bytes: number): void {
    this.bytes += bytes;
  }

  end(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** Milliseconds for the whole at the speed until now. */
  private neededMs(): number {
    return (this.total / this.bytes) * (performance.now() - this.started);
  }

  private report(): void {
    const { title, progress } = this.options;
    const name = this.url.split('/').at(-1);
    const of = this.total > 0 ? ` of ${megabytes(this.total)}` : '';
    progress(`downloading ${title}, ${name}: ${megabytes(this.bytes)}${of} MB`);
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** Puts files of one folder of a compressed archive into the folder. */
async function unpack(archive: string, folder: string, members: readonly string[]): Promise<void> {
  const depth = members[0]!.split('/').length - 1;
  await run('tar', ['-xzf', archive, '-C', folder, `--strip-components=${depth}`, ...members]);
}
